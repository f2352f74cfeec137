package netconn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/fast"
	"github.com/weighstone/weighstone/servers/fiber"
	"github.com/weighstone/weighstone/servers/std"
)

// engines are the users of the package.
var engines = []struct {
	name string
	new  func(weighstone.Options) weighstone.Server
}{
	{"nethttp", std.New},
	{"fasthttp", fast.New},
	{"fiber", fiber.New},
}

// onEach runs a test on every engine.
func onEach(t *testing.T, test func(t *testing.T, newServer func(weighstone.Options) weighstone.Server)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { test(t, e.new) })
	}
}

// A testSite is a small site with a route for each kind of reply.
type testSite struct {
	*weighstone.Site
	page    []byte
	file    string        // 1 MiB
	large   string        // as many bytes as large says, all zero
	entered chan struct{} // a handler of /wait has begun
	leave   chan struct{} // closed to let it go on
	gone    chan struct{} // it saw its client leave
	closed  chan struct{} // a stream was closed
}

// large is a body that no socket buffer holds, in bytes.
const large = 32 << 20

func newSite(t *testing.T) *testSite {
	t.Helper()
	s := &testSite{
		page:    bytes.Repeat([]byte("page "), 20),
		file:    filepath.Join(t.TempDir(), "file"),
		entered: make(chan struct{}, 100), leave: make(chan struct{}),
		gone: make(chan struct{}, 100), closed: make(chan struct{}, 100),
	}
	if err := os.WriteFile(s.file, bytes.Repeat([]byte("0123456789abcdef"), 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	s.large = s.file + ".large"
	if err := os.WriteFile(s.large, make([]byte, large), 0o600); err != nil {
		t.Fatal(err)
	}
	page := weighstone.NewPage("text/html", time.Unix(1e9, 0), s.page)
	const read, all = weighstone.GET | weighstone.HEAD, weighstone.GET | weighstone.HEAD | weighstone.POST
	handle := func(pattern string, m weighstone.Methods, body weighstone.BodyPolicy, waits bool, f func(*weighstone.Exchange)) weighstone.Route {
		return weighstone.Route{Pattern: pattern, Methods: m, Body: body, Waits: waits, Handler: weighstone.HandlerFunc(f)}
	}
	site, err := weighstone.NewSite(1<<20,
		handle("/page", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) { x.SendPage(page) }),
		handle("/scratch", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			x.Scratch = append(x.Scratch, s.page...)
			x.SendScratch("text/plain")
		}),
		handle("/empty", all, weighstone.BodyRefused, false, func(*weighstone.Exchange) {}),
		handle("/extra", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			x.Out.Status = 302
			x.AddField("Location", "/page")
			x.AddField("ETag", `"e"`)
			x.AddField("Set-Cookie", "a=1")
			x.AddField("Set-Cookie", "b=2")
		}),
		handle("/unchanged", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) { x.Out.Status = 304 }),
		handle("/file", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			f, err := os.Open(s.file)
			if err != nil {
				x.Fail(500)
				return
			}
			x.Out.Type = "application/octet-stream"
			x.SendFile(f, 16, 1<<20-32)
		}),
		handle("/large-file", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			f, err := os.Open(s.large)
			if err != nil {
				x.Fail(500)
				return
			}
			x.SendFile(f, 0, large)
		}),
		handle("/large-scratch", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			x.Scratch = append(x.Scratch, make([]byte, large)...)
			x.SendScratch("text/plain")
		}),
		handle("/short-file", read, weighstone.BodyRefused, false, func(x *weighstone.Exchange) {
			f, _ := os.Open(s.file)
			x.SendFile(f, 1<<20-10, 100)
		}),
		handle("/stream", read, weighstone.BodyRefused, true, func(x *weighstone.Exchange) {
			x.Out.Type = "text/plain"
			x.SendStream(s.stream(bytes.NewReader(s.page), nil), -1)
		}),
		handle("/sized", read, weighstone.BodyRefused, true, func(x *weighstone.Exchange) {
			x.SendStream(s.stream(bytes.NewReader(s.page), nil), int64(len(s.page)))
		}),
		handle("/broken", read, weighstone.BodyRefused, true, func(x *weighstone.Exchange) {
			x.SendStream(s.stream(bytes.NewReader(s.page), errors.New("broken")), -1)
		}),
		handle("/short", read, weighstone.BodyRefused, true, func(x *weighstone.Exchange) {
			x.SendStream(s.stream(bytes.NewReader(s.page), nil), int64(len(s.page))+1)
		}),
		handle("/panic", read, weighstone.BodyRefused, false, func(*weighstone.Exchange) { panic("on purpose") }),
		handle("/mirror", all, weighstone.BodyStreamed, false, mirror),
		handle("/buffered", all, weighstone.BodyBuffered, false, mirror),
		handle("/wait", read, weighstone.BodyRefused, true, func(x *weighstone.Exchange) {
			s.entered <- struct{}{}
			select {
			case <-s.leave:
			case <-x.In.Gone:
				s.gone <- struct{}{}
				<-s.leave
			}
			x.SendPage(page)
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	s.Site = site
	return s
}

func mirror(x *weighstone.Exchange) {
	if x.In.Body == nil {
		x.SendScratch("text/plain")
		return
	}
	b, err := io.ReadAll(x.In.Body)
	if err != nil {
		x.Fail(err.(interface{ Status() int }).Status())
		x.Out.Close = true
		return
	}
	x.Scratch = append(x.Scratch, b...)
	x.SendScratch("text/plain")
}

// stream yields r, then err if there is one.
func (s *testSite) stream(r io.Reader, err error) io.ReadCloser {
	return &testStream{r, err, s.closed}
}

type testStream struct {
	io.Reader
	err    error
	closed chan struct{}
}

func (s *testStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF && s.err != nil {
		err = s.err
	}
	return n, err
}

func (s *testStream) Close() error {
	s.closed <- struct{}{}
	return nil
}

// A running server, and where.
type running struct {
	weighstone.Server
	addr   string
	served chan error
	fd     int
}

// run serves site until the test ends.
func run(t *testing.T, server weighstone.Server, site *weighstone.Site) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fd := rawListener(t, l)
	r := &running{Server: server, addr: l.Addr().String(), served: make(chan error, 1), fd: fd}
	go func() { r.served <- server.Serve([]int{fd}, site) }()
	t.Cleanup(func() {
		r.stop(t)
		if err := syscall.Close(fd); err != nil {
			t.Error("the listening descriptor was closed:", err)
		}
		_ = l.Close()
	})
	return r
}

// rawListener returns a copy of l's descriptor.
func rawListener(t *testing.T, l net.Listener) (fd int) {
	t.Helper()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err == nil {
		control := raw.Control(func(own uintptr) { fd, err = syscall.Dup(int(own)) })
		err = errors.Join(err, control)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// stop drains the server, once.
func (r *running) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Drain(ctx); err != nil {
		t.Error("drain:", err)
	}
	select {
	case err := <-r.served:
		if err != nil {
			t.Error("serve:", err)
		}
		r.served <- err
	case <-ctx.Done():
		t.Error("Serve has not returned after Drain")
	}
}

// dial opens a connection whose reads do not wait for ever.
func (r *running) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c.(*net.TCPConn)
}
