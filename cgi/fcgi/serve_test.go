package fcgi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A probe is a gateway's end of a connection to an application that runs h.
type probe struct {
	net.Conn
	t     *testing.T
	ended chan error
}

func newProbe(t *testing.T, h Handler) *probe {
	t.Helper()
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{t: t, ended: make(chan error, 1)}
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = ServeConn(c, h)
			c.Close()
		}
		p.ended <- err
	}()
	if p.Conn, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	p.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { p.Close(); l.Close() })
	return p
}

// send sends without waiting for it to be read.
func (p *probe) send(records ...string) {
	go io.WriteString(p.Conn, strings.Join(records, ""))
}

// next reads one record.
func (p *probe) next() (Header, string) {
	p.t.Helper()
	var b [HeaderLength]byte
	if _, err := io.ReadFull(p.Conn, b[:]); err != nil {
		p.t.Fatal(err)
	}
	h, _, err := ParseHeader(b[:])
	if err != nil {
		p.t.Fatal(err)
	}
	content := make([]byte, h.Length+h.Padding)
	if _, err := io.ReadFull(p.Conn, content); err != nil {
		p.t.Fatal(err)
	}
	return h, string(content[:h.Length])
}

// reply reads records up to END_REQUEST.
func (p *probe) reply(id uint16) (out, errs string, end string) {
	p.t.Helper()
	for {
		h, content := p.next()
		if h.ID != id {
			p.t.Fatalf("a record for request %d: %+v", h.ID, h)
		}
		switch h.Type {
		case TypeStdout:
			out += content
		case TypeStderr:
			errs += content
		case TypeEnd:
			return out, errs, content
		}
	}
}

const (
	beginKeep = "\x00\x01\x01\x00\x00\x00\x00\x00"
	beginOnce = "\x00\x01\x00\x00\x00\x00\x00\x00"
)

// mirrorAll replies with its parameters and body.
func mirrorAll(r *Request) uint32 {
	var names []string
	for name := range r.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(r.Out, "%s=%d ", name, len(r.Params[name]))
	}
	n, err := io.Copy(r.Out, r.Body)
	fmt.Fprintf(r.Err, "%d bytes, %v", n, err)
	return 7
}

func pairs(names ...string) string {
	var b []byte
	for _, name := range names {
		b = AppendPair(b, []byte(name), []byte("value"))
	}
	return string(b)
}

func TestServe(t *testing.T) {
	p := newProbe(t, mirrorAll)
	params := pairs("A", "B")
	for _, id := range []uint16{1, 1, 65535} { // kept alive
		p.send(rec(1, id, beginKeep, 0), rec(4, id, params[:3], 3), rec(4, id, params[3:], 255), rec(4, id, "", 0),
			rec(5, id, "bo", 1), rec(5, id, "dy", 0), rec(5, id, "", 8))
		out, errs, end := p.reply(id)
		if out != "A=5 B=5 body" || errs != "4 bytes, <nil>" || end != "\x00\x00\x00\x07\x00\x00\x00\x00" {
			t.Errorf("request %d: %q, %q, %q", id, out, errs, end)
		}
	}
	p.send(rec(1, 1, beginOnce, 0), rec(4, 1, "", 0), rec(5, 1, "", 0))
	p.reply(1)
	if _, err := p.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after a request that is to be the last: %v", err)
	}
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

func TestServeLargeReply(t *testing.T) {
	p := newProbe(t, func(r *Request) uint32 {
		for range 100 {
			r.Out.Write(make([]byte, 10_000))
		}
		return 0
	})
	p.send(rec(1, 1, beginKeep, 0), rec(4, 1, "", 0), rec(5, 1, "", 0))
	if out, _, _ := p.reply(1); len(out) != 1_000_000 {
		t.Errorf("%d bytes", len(out))
	}
}

// TestServeManagement: as section 4 says.
func TestServeManagement(t *testing.T) {
	p := newProbe(t, mirrorAll)
	p.send(rec(9, 0, string(AppendPair(AppendPair(nil, []byte("FCGI_MPXS_CONNS"), nil), []byte("NO_SUCH"), nil)), 0))
	if h, content := p.next(); h.Type != TypeGetValuesResult || h.ID != 0 || content != string(AppendPair(nil, []byte("FCGI_MPXS_CONNS"), []byte("0"))) {
		t.Errorf("%+v %q", h, content)
	}
	p.send(rec(77, 0, "what", 4))
	if h, content := p.next(); h.Type != TypeUnknown || h.ID != 0 || content != "\x4d\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("%+v %q", h, content)
	}
	p.send(rec(1, 1, "\x00\x09\x01\x00\x00\x00\x00\x00", 0))
	if h, content := p.next(); h.Type != TypeEnd || content[4] != statusUnknownRole {
		t.Errorf("a role it does not have: %+v %q", h, content)
	}
	p.send(rec(1, 1, beginKeep, 0), rec(1, 2, beginKeep, 0), rec(4, 1, "", 0))
	if h, content := p.next(); h.Type != TypeEnd || h.ID != 2 || content[4] != statusCantMpx {
		t.Errorf("a second request: %+v %q", h, content)
	}
	p.send(rec(4, 2, "ignored", 1), rec(5, 2, "ignored", 1), rec(5, 1, "", 0))
	if out, _, end := p.reply(1); out != "" || end[4] != statusComplete {
		t.Errorf("the first request: %q, %q", out, end)
	}
}

func TestServeAbort(t *testing.T) {
	seen := make(chan error, 1)
	p := newProbe(t, func(r *Request) uint32 {
		_, err := io.ReadAll(r.Body)
		seen <- err
		return 1
	})
	p.send(rec(1, 1, beginKeep, 0), rec(4, 1, "", 0), rec(5, 1, "part", 0), rec(2, 1, "", 0))
	p.reply(1)
	if err := <-seen; !errors.Is(err, ErrAborted) {
		t.Errorf("the body's end is %v", err)
	}
	p.send(rec(1, 1, beginKeep, 0), rec(4, 1, "", 0)[:0], rec(2, 1, "", 0))
	p.reply(1)
	select {
	case <-seen:
		t.Error("a request aborted before its parameters ended reached the handler")
	default:
	}
}

// TestServeUnreadBody: what a handler leaves of a body does not disturb the
// next request.
func TestServeUnreadBody(t *testing.T) {
	p := newProbe(t, func(r *Request) uint32 {
		io.CopyN(r.Out, r.Body, 3)
		return 0
	})
	for range 2 {
		p.send(rec(1, 1, beginKeep, 0), rec(4, 1, "", 0), rec(5, 1, strings.Repeat("long", 1000), 5), rec(5, 1, "more", 4), rec(5, 1, "", 0))
		if out, _, _ := p.reply(1); out != "lon" {
			t.Errorf("%q", out)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	for name, sent := range map[string]string{
		"version":       "\x02aaaaaaa",
		"STDIN early":   rec(1, 1, beginKeep, 0) + rec(5, 1, "x", 0),
		"BEGIN's size":  rec(1, 1, "x", 0),
		"cut header":    "\x01\x01\x00",
		"cut params":    rec(1, 1, beginKeep, 0) + rec(4, 1, "\x05\x05abc", 0) + rec(4, 1, "", 0),
		"end in params": rec(1, 1, beginKeep, 0) + rec(4, 1, "", 0)[:4],
		"too much":      rec(1, 1, beginKeep, 0) + strings.Repeat(rec(4, 1, strings.Repeat("x", 60_000), 0), 20),
	} {
		t.Run(name, func(t *testing.T) {
			p := newProbe(t, func(*Request) uint32 { t.Error("reached the handler"); return 0 })
			go func() {
				io.WriteString(p.Conn, sent)
				p.Conn.(*net.UnixConn).CloseWrite()
			}()
			if err := <-p.ended; err == nil {
				t.Error("no error")
			}
		})
	}
}
