package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/cgi/fcgi"
)

// An odd is an application that does what a test says.
type odd struct {
	t       *testing.T
	address string
	accepts atomic.Int32
	all     sync.WaitGroup
}

// newOdd listens, and has talk answer on each connection, the n-th of which,
// from 1, it is told. The connection is closed afterwards.
func newOdd(t *testing.T, talk func(c *wire, n int)) *odd {
	t.Helper()
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	o := &odd{t: t, address: "unix:" + path}
	o.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(o.accepts.Add(1))
			o.all.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(patience))
				talk(&wire{Conn: c}, n)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		o.all.Wait()
	})
	return o
}

// A wire is a connection as an application has it.
type wire struct {
	net.Conn
	aborted bool
	body    []byte
}

// request reads a request to the end of its body, an abort or the connection's
// end, and says whether there was one.
func (c *wire) request() bool {
	c.aborted, c.body = false, nil
	for {
		kind, content, err := c.record()
		switch {
		case err != nil:
			return false
		case kind == fcgi.TypeAbort:
			c.aborted = true
			return true
		case kind == fcgi.TypeStdin && len(content) == 0:
			return true
		case kind == fcgi.TypeStdin:
			c.body = append(c.body, content...)
		}
	}
}

// record reads one record.
func (c *wire) record() (fcgi.Type, []byte, error) {
	var b [fcgi.HeaderLength]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return 0, nil, err
	}
	h, _, err := fcgi.ParseHeader(b[:])
	if err != nil {
		return 0, nil, err
	}
	content := make([]byte, h.Length+h.Padding)
	_, err = io.ReadFull(c, content)
	return h.Type, content[:h.Length], err
}

// say sends records.
func (c *wire) say(records ...[]byte) { c.Write(bytes.Join(records, nil)) }

func out(text string) []byte  { return fcgi.AppendStream(nil, fcgi.TypeStdout, 1, []byte(text)) }
func errs(text string) []byte { return fcgi.AppendStream(nil, fcgi.TypeStderr, 1, []byte(text)) }
func end(protocol byte) []byte {
	return fcgi.AppendRecord(nil, fcgi.TypeEnd, 1, []byte{0, 0, 0, 0, protocol, 0, 0, 0})
}

const hello = "Content-type: text/plain\r\n\r\nhello"

// TestReplies: what an application says on a connection, and
// what becomes of it.
func TestReplies(t *testing.T) {
	long := strings.Repeat("long line of a reply\n", 20_000)
	for name, c := range map[string]struct {
		said   []byte
		status int
		body   string
		broken bool
	}{
		"no empty STDOUT":                   {cat(out(hello), end(0)), 200, "hello", false},
		"empty STDOUT":                      {cat(out(hello), fcgi.AppendRecord(nil, fcgi.TypeStdout, 1, nil), end(0)), 200, "hello", false},
		"stray management":                  {cat(fcgi.AppendRecord(nil, fcgi.TypeGetValuesResult, 0, nil), out(hello), end(0)), 200, "hello", false},
		"header in pieces":                  {cat(out("Content-type: te"), out("xt/plain\r\n\r"), out("\nhel"), out("lo"), end(0)), 200, "hello", false},
		"complaints between":                {cat(out("Content-type: a/b\n\nhel"), errs("oh\n"), out("lo"), errs("no\n"), end(0)), 200, "hello", false},
		"long":                              {cat(out("Content-type: a/b\n\n"), out(long), end(0)), 200, long, false},
		"status":                            {cat(out("Status: 404 Not Found\r\nContent-type: text/html; charset=UTF-8\r\n\r\nFile not found.\n"), end(0)), 404, "File not found.\n", false},
		"longer than announced":             {cat(out("Content-type: a/b\nContent-Length: 3\n\nhello"), end(0)), 200, "hel", false},
		"shorter than announced":            {cat(out("Content-type: a/b\nContent-Length: 30\n\nhello"), end(0)), 502, "502 Bad Gateway\n", false},
		"nothing":                           {nil, 502, "502 Bad Gateway\n", false},
		"cut header":                        {out("Content-type: te"), 502, "502 Bad Gateway\n", false},
		"cut body":                          {out(hello), 502, "502 Bad Gateway\n", false},
		"cut long body":                     {cat(out("Content-type: a/b\n\n"), out(long)), 200, long, true},
		"cut long body of announced length": {cat(out(fmt.Sprintf("Content-type: a/b\nContent-Length: %d\n\n", 2*len(long))), out(long)), 200, long, true},
		"cut record":                        {out(hello)[:20], 502, "502 Bad Gateway\n", false},
		"cut END":                           {cat(out(hello), end(0)[:12]), 502, "502 Bad Gateway\n", false},
		"no output":                         {end(0), 500, "500 Internal Server Error\n", false},
		"no header":                         {cat(out("hello\n"), end(0)), 500, "500 Internal Server Error\n", false},
		"no end of header":                  {cat(out("Content-type: a/b\n"), end(0)), 500, "500 Internal Server Error\n", false},
		"bad status":                        {cat(out("Status: abc\nContent-type: a/b\n\nx"), end(0)), 502, "502 Bad Gateway\n", false},
		"another's id":                      {cat(fcgi.AppendRecord(nil, fcgi.TypeStdout, 7, []byte(hello)), end(0)), 502, "502 Bad Gateway\n", false},
		"strange type":                      {cat(fcgi.AppendRecord(nil, fcgi.TypeParams, 1, []byte("x")), end(0)), 502, "502 Bad Gateway\n", false},
		"no FastCGI":                        {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 502, "502 Bad Gateway\n", false},
		"multiplexing":                      {end(1), 502, "502 Bad Gateway\n", false},
		"overloaded":                        {end(2), 503, "503 Service Unavailable\n", false},
		"role":                              {end(3), 502, "502 Bad Gateway\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOdd(t, func(w *wire, _ int) {
				if w.request() {
					w.say(c.said)
				}
			})
			s := mounted(t, Options{}, o.address)
			a := s.get("/app/x")
			if a.status != c.status || a.body != c.body || (a.broken != nil) != c.broken {
				t.Errorf("%d, %d bytes %.60q, broken: %v", a.status, len(a.body), a.body, a.broken)
			}
			if a.status == 503 && a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
		})
	}
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestComplaints: standard error goes to the log, so much a request.
func TestComplaints(t *testing.T) {
	o := newOdd(t, func(c *wire, _ int) {
		for c.request() {
			c.say(errs("first line\nsecond"), errs(" line\n"), out(hello))
			for range 100 {
				c.say(errs(strings.Repeat("flood of complaints\n", 1000)))
			}
			c.say(end(0))
		}
	})
	s := mounted(t, Options{}, o.address)
	for range 2 {
		if a := s.get("/app/x"); a.status != 200 || a.body != "hello" {
			t.Errorf("%+v", a)
		}
	}
	log := s.log.String()
	if strings.Count(log, `line="second line"`) != 2 || len(log) > 2<<20 || strings.Count(log, "no more is logged") != 2 {
		t.Errorf("%d bytes of log: %.1000s", len(log), log)
	}
	if n := o.accepts.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// TestStaleConnection: an application that closes after each reply, whatever
// it was asked, is connected to again, for any method.
func TestStaleConnection(t *testing.T) {
	o := newOdd(t, func(c *wire, _ int) {
		if c.request() {
			c.say(out(hello), end(0))
		}
	})
	s := mounted(t, Options{}, o.address)
	for range 20 {
		for _, method := range []string{"GET", "POST"} {
			if a := s.ask(method, "/app/x", strings.Repeat("x", len(method)-3)); a.status != 200 || a.body != "hello" {
				t.Fatalf("%s: %+v", method, a)
			}
		}
	}
}

// TestRetry: a request that a kept connection swallowed is sent once more, if
// it may be and nothing was answered.
func TestRetry(t *testing.T) {
	var posted atomic.Int32
	talk := func(c *wire, _ int) {
		if !c.request() {
			return
		}
		c.say(out(hello), end(0))
		if c.request() { // the second on each connection is read and not answered
			posted.Add(1)
		}
	}
	o := newOdd(t, talk)
	s := mounted(t, Options{}, o.address)
	if a := s.get("/app/x"); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	if a := s.get("/app/x"); a.status != 200 || a.body != "hello" || o.accepts.Load() != 2 {
		t.Errorf("GET on a connection that swallows it: %+v, %d connections", a, o.accepts.Load())
	}
	posted.Store(0)
	if a := s.ask("POST", "/app/x", "body"); a.status != 502 || posted.Load() != 1 || o.accepts.Load() != 2 {
		t.Errorf("POST: %+v, read %d times, %d connections", a, posted.Load(), o.accepts.Load())
	}
	if a := s.get("/app/x"); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestRetryOnce: an application that swallows every request is asked twice.
func TestRetryOnce(t *testing.T) {
	var asked atomic.Int32
	o := newOdd(t, func(c *wire, _ int) {
		if c.request() && asked.Add(1) == 1 {
			c.say(out(hello), end(0))
			c.request()
			asked.Add(1)
		}
	})
	s := mounted(t, Options{}, o.address)
	s.get("/app/x")
	if a := s.get("/app/x"); a.status != 502 || asked.Load() != 3 {
		t.Errorf("%+v, asked %d times", a, asked.Load())
	}
}

// TestNoRetryAfterAnAnswer: once anything was answered the request is not sent
// again.
func TestNoRetryAfterAnAnswer(t *testing.T) {
	o := newOdd(t, func(c *wire, _ int) {
		if c.request() {
			c.say(out(hello), end(0))
		}
		if c.request() {
			c.say(out("Content-ty"))
		}
	})
	s := mounted(t, Options{}, o.address)
	s.get("/app/x")
	if a := s.get("/app/x"); a.status != 502 || o.accepts.Load() != 1 {
		t.Errorf("%+v, %d connections", a, o.accepts.Load())
	}
}

// TestAnswersAfterTheEnd: what follows END_REQUEST never becomes part of
// another reply.
func TestAnswersAfterTheEnd(t *testing.T) {
	o := newOdd(t, func(c *wire, n int) {
		for c.request() {
			c.say(out(fmt.Sprintf("Content-type: a/b\n\n%d", n)), end(0), out("Content-type: a/b\n\nstray"), end(0))
		}
	})
	s := mounted(t, Options{}, o.address)
	for i := 1; i <= 3; i++ {
		if a := s.get("/app/x"); a.status != 200 || a.body != fmt.Sprint(i) {
			t.Errorf("%+v, want the body %d", a, i)
		}
	}
}

// TestTimeLimit: an application that is silent, or stops within its reply, is
// told to give up.
func TestTimeLimit(t *testing.T) {
	aborted := make(chan bool, 2)
	for name, said := range map[string][]byte{"silent": nil, "begun": out(hello)} {
		t.Run(name, func(t *testing.T) {
			o := newOdd(t, func(c *wire, _ int) {
				c.request()
				c.say(said)
				aborted <- c.request() && c.aborted
				c.say(end(0))
			})
			s := mounted(t, Options{Timeout: 300 * time.Millisecond}, o.address)
			a := s.get("/app/x")
			if name == "silent" && a.status != 504 || name == "begun" && (a.status != 200 || a.body != "hello" || a.broken == nil) {
				t.Errorf("%+v", a)
			}
			if !<-aborted {
				t.Error("no ABORT_REQUEST")
			}
		})
	}
}

// TestClientLeaves: the application is told to give up.
func TestClientLeaves(t *testing.T) {
	begun, aborted := make(chan struct{}), make(chan bool, 1)
	o := newOdd(t, func(c *wire, _ int) {
		c.request()
		close(begun)
		aborted <- c.request() && c.aborted
		c.say(end(0))
	})
	s := mounted(t, Options{}, o.address)
	c := s.begin("GET /app/x HTTP/1.1\r\nHost: a\r\n\r\n")
	<-begun
	c.Close()
	if !<-aborted {
		t.Error("no ABORT_REQUEST")
	}
}

// TestEarlyReply: a reply that comes before the upload has ended is passed on
// at once.
func TestEarlyReply(t *testing.T) {
	o := newOdd(t, func(c *wire, _ int) {
		for {
			kind, _, err := c.record()
			if err != nil {
				return
			}
			if kind == fcgi.TypeStdin {
				c.say(out(hello), end(0))
				io.Copy(io.Discard, c)
			}
		}
	})
	s := mounted(t, Options{}, o.address)
	c := s.begin("POST /app/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegun")
	if a := reply(t, c); a.status != 200 || a.body != "hello" {
		t.Errorf("%+v", a)
	}
}

// TestBrokenUpload: an application never takes a part of a body for the whole.
func TestBrokenUpload(t *testing.T) {
	seen := make(chan bool, 1)
	o := newOdd(t, func(c *wire, _ int) {
		seen <- c.request() && !c.aborted
		c.say(end(0))
	})
	s := mounted(t, Options{}, o.address)
	c := s.begin("POST /app/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\npart")
	c.(*net.TCPConn).CloseWrite()
	if a := reply(t, c); a.status != http.StatusBadRequest && a.broken == nil {
		t.Errorf("%+v", a)
	}
	if <-seen {
		t.Error("the application saw the end of a body that had none")
	}
}

// TestNoDeadlock: a large body goes out while a large reply comes in.
func TestNoDeadlock(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	o := newOdd(t, func(c *wire, _ int) {
		var all sync.WaitGroup
		all.Go(func() { // writes before it reads
			c.say(out("Content-type: a/b\n\n"))
			for at := 0; at < len(long); at += 1 << 16 {
				c.say(out(long[at : at+1<<16]))
			}
		})
		all.Wait()
		if c.request() && len(c.body) == len(long) {
			c.say(end(0))
		}
	})
	s := mounted(t, Options{}, o.address)
	if a := s.ask("POST", "/app/x", long); a.status != 200 || a.body != long || a.broken != nil {
		t.Errorf("%d, %d bytes, %v", a.status, len(a.body), a.broken)
	}
}

// TestFewWorkers: an application with fewer workers than we have connections
// answers all requests, though a worker is tied to a connection that we keep.
func TestFewWorkers(t *testing.T) {
	worker := make(chan struct{}, 2)
	o := newOdd(t, func(c *wire, _ int) {
		worker <- struct{}{}
		defer func() { <-worker }()
		for c.request() {
			c.say(out(hello), end(0))
		}
	})
	s := mounted(t, Options{Connections: 8}, o.address)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if a := s.get("/app/x"); a.status != 200 {
				t.Errorf("%+v", a)
			}
		})
	}
	all.Wait()
}

// TestNobodyListens: 502, and an application that comes later is found.
func TestNobodyListens(t *testing.T) {
	path := t.TempDir() + "/s"
	served := make(chan error, 1)
	t.Cleanup(func() { // after the site, which holds a connection
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("the application ends with %v", err)
		}
	})
	s := mounted(t, Options{}, "unix:"+path)
	for range 100 {
		if a := s.get("/app/x"); a.status != 502 {
			t.Fatalf("%+v", a)
		}
	}
	if n := strings.Count(s.log.String(), "can't be asked"); n < 1 || n > 30 {
		t.Errorf("tried, and said so, %d times in 100 requests", n)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		served <- fcgi.Serve(l, func(r *fcgi.Request) uint32 { io.WriteString(r.Out, hello); return 0 })
	}()
	soon(t, "the application is found", func() bool { return s.get("/app/x").status == 200 })
	l.Close()
}

// TestSCGI: a reply ends with the connection, which must have been closed well.
func TestSCGI(t *testing.T) {
	for name, c := range map[string]struct {
		said   string
		reset  bool
		status int
		body   string
		broken bool
	}{
		"usual":     {hello, false, 200, "hello", false},
		"announced": {"Content-type: a/b\nContent-Length: 5\n\nhello", false, 200, "hello", false},
		"short":     {"Content-type: a/b\nContent-Length: 6\n\nhello", false, 502, "502 Bad Gateway\n", false},
		"nothing":   {"", false, 500, "500 Internal Server Error\n", false},
		"reset":     {hello, true, 502, "502 Bad Gateway\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOdd(t, func(w *wire, _ int) {
				b := make([]byte, 1)
				if !c.reset {
					b = make([]byte, 64<<10)
				}
				w.Read(b) // closing with more unread breaks the connection
				io.WriteString(w, c.said)
			})
			s := mounted(t, Options{Protocol: SCGI}, o.address)
			a := s.get("/app/x")
			if a.status != c.status || a.body != c.body || (a.broken != nil) != c.broken {
				t.Errorf("%+v", a)
			}
		})
	}
}
