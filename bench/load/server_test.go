package load

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/internal/testproc"
	"go.uber.org/goleak"
)

// childOf names, in the environment, what a child process of a test does
// instead of tests.
const childOf = "WEIGHSTONE_LOAD_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(childOf) {
	case "":
		goleak.VerifyTestMain(m)
	case "serve":
		serveChild()
	case "ports":
		portsChild()
	case "hog":
		fmt.Fprintln(os.Stderr, testproc.Hog(os.Getenv("CORE")))
		os.Exit(1)
	}
}

// child makes a command that runs this test binary as a child.
func child(what string, more ...string) *exec.Cmd {
	return testproc.Self(append(more, childOf+"="+what)...)
}

// A scripted server reads requests off raw connections and answers the n-th of
// all, counting from 0, by calling answer.
type scripted struct {
	url      string
	accepted atomic.Int64
	requests atomic.Int64
}

// An answer writes a reply to a request, given its head; it returns false to
// have the connection closed.
type answer func(n int64, c *net.TCPConn, head string) bool

func serveScript(t testing.TB, a answer) *scripted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{url: "http://" + l.Addr().String() + "/x"}
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			all.Go(func() { s.serve(c.(*net.TCPConn), a) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return s
}

func (s *scripted) serve(c *net.TCPConn, a answer) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		var head strings.Builder
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			head.WriteString(line)
		}
		if !a(s.requests.Add(1)-1, c, head.String()) {
			return
		}
	}
}

// ok is a complete reply with a body.
func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// always answers each request with the same bytes.
func always(reply string, keep bool) answer {
	return func(_ int64, c *net.TCPConn, _ string) bool {
		c.Write([]byte(reply))
		return keep
	}
}

// handler starts net/http with h.
func handler(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/x"
}

// runs runs c against url, with a plan for it if c has none.
func runs(t testing.TB, url string, c Config) *Result {
	t.Helper()
	if c.Plan == nil {
		p, err := plan.URL(url, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Plan = p
	}
	c.URL = url
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one is a plan of a single request.
type one struct{ ask bench.Ask }

func (o one) Classes() []bench.Class  { return []bench.Class{{Name: string(o.ask.Target), Weight: 1}} }
func (o one) Script(int) bench.Script { return o }
func (o one) Next(a *bench.Ask)       { *a = o.ask }
