package upstream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/testproc"
	"github.com/weighstone/weighstone/servers"
)

// patience bounds what a test waits for. It is no expectation.
const patience = 30 * time.Second

// A site is a running server with the gateways of a test.
type site struct {
	t    *testing.T
	log  *testproc.Journal
	addr string
}

// A closer is a gateway.
type closer interface {
	Routes() []weighstone.Route
	Close() error
}

// serve starts a server on an event loop, with gateways made of the
// options given to them. Goroutines, descriptors and children must all be gone
// at the test's end.
func serve(t *testing.T, o Options, gatewaysOf func(o Options) []closer) *site {
	t.Helper()
	before, others := descriptors(t), children(t)
	old := goleak.IgnoreCurrent()
	s := &site{t: t, log: new(testproc.Journal)}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	o.Log = slog.New(slog.NewTextHandler(s.log, nil))
	gateways := gatewaysOf(o)
	var routes []weighstone.Route
	for _, g := range gateways {
		routes = append(routes, g.Routes()...)
	}
	all, err := weighstone.NewSite(0, routes...)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := sys.Listen("127.0.0.1:0", 2048, false)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = sys.LocalAddr(fd).String()
	variant, err := servers.Find("epoll")
	if err != nil {
		t.Fatal(err)
	}
	server := variant.New(weighstone.Options{Log: o.Log, Limits: weighstone.Limits{MaxConns: 4000}})
	served := make(chan error, 1)
	go func() { served <- server.Serve([]int{fd}, all) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		for _, g := range gateways {
			if err := g.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		sys.Close(fd)
		goleak.VerifyNone(t, old)
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors open, %d before", after, before)
		}
		if now := children(t); now != others {
			t.Errorf("children %q are left, there were %q", now, others)
		}
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	return s
}

// descriptors counts those open, but for the poller's own.
func descriptors(t *testing.T) int {
	t.Helper()
	r, w, err := os.Pipe() // brings the poller to life
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// children lists the processes that this one has started, zombies included.
func children(t *testing.T) string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range lists {
		if b, err := os.ReadFile(list); err == nil { // else the thread has ended
			all = append(all, strings.Fields(string(b))...)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// mounted is a site with an application at an address below /app/.
func mounted(t *testing.T, o Options, address string) *site {
	t.Helper()
	return serve(t, o, func(o Options) []closer {
		m, err := NewMount(o, "/app/", address)
		if err != nil {
			t.Fatal(err)
		}
		return []closer{m}
	})
}

// An answer is a reply.
type answer struct {
	status int
	header http.Header
	body   string
	broken error // the body is not whole
}

// ask sends a request on a connection of its own, with the body's length
// announced.
func (s *site) ask(method, path, body string) answer {
	s.t.Helper()
	return s.askWith(method, path, strings.NewReader(body))
}

func (s *site) askWith(method, path string, body io.Reader) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.addr+path, body)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return answer{broken: err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b), err}
}

// get asks for a path.
func (s *site) get(path string) answer {
	s.t.Helper()
	return s.ask("GET", path, "")
}

// begin sends the bytes of a request, and returns the connection.
func (s *site) begin(request string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, request); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// reply reads a reply.
func reply(t *testing.T, c net.Conn) answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return answer{broken: err}
	}
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b), err}
}

// soon waits for a condition.
func soon(t *testing.T, about string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", about)
		}
	}
}

// need returns the path of a tool. Without it the test is skipped, which in
// continuous integration is a failure.
func need(t *testing.T, tool string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/"} {
		if path, err := exec.LookPath(dir + tool); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is needed", tool)
	}
	t.Skipf("%s is needed", tool)
	return ""
}

// samples are the sample programs in C, built once for all tests into a
// directory that TestMain removes.
var samples struct {
	once sync.Once
	dir  string
	err  error
}

// programs returns the directory of the sample programs in C.
func programs(t *testing.T) (dir string) {
	t.Helper()
	cc := need(t, "cc")
	samples.once.Do(func() {
		if samples.dir, samples.err = os.MkdirTemp("", "weighstone-samples-"); samples.err == nil {
			samples.err = compile(cc, samples.dir)
		}
	})
	if samples.err != nil {
		t.Fatal(samples.err)
	}
	return samples.dir
}

func compile(cc, dir string) error {
	const sources = "../../../cgi/prog/"
	for _, name := range []string{"echo", "hello", "send", "mirror", "constant"} {
		args := []string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-o", filepath.Join(dir, name), sources + name + ".c"}
		for _, shared := range []string{"exchange.c", "fastcgi.c", "input.c", "main.c", "scgi.c"} {
			args = append(args, sources+shared)
		}
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("compile %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// withPrograms is a site with programs below /fcgi-bin/ and /scgi-bin/.
func withPrograms(t *testing.T, o Options, dir string) *site {
	t.Helper()
	return serve(t, o, func(o Options) (all []closer) {
		for _, p := range []Protocol{FastCGI, SCGI} {
			o.Protocol = p
			g, err := NewPrograms(o, fmt.Sprintf("/%s-bin/", map[Protocol]string{FastCGI: "fcgi", SCGI: "scgi"}[p]), dir)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, g)
		}
		return all
	})
}
