package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/plan"
)

// TestCountsEqualTheServers sends a number of requests in every mode, to
// net/http and to a server of raw sockets, and compares what both sides
// counted.
func TestCountsEqualTheServers(t *testing.T) {
	for name, c := range map[string]Config{
		"kept":                          {Keepalive: true},
		"kept, one client":              {Keepalive: true, Clients: 1},
		"kept, 1.0":                     {Keepalive: true, HTTP10: true},
		"one a connection":              {},
		"one a connection, 1.0":         {HTTP10: true},
		"client closes first":           {CloseFirst: true},
		"three a connection":            {Keepalive: true, PerConn: 3},
		"pipelined":                     {Keepalive: true, Pipeline: 4},
		"pipelined, three a connection": {Keepalive: true, Pipeline: 4, PerConn: 3},
		"three workers":                 {Keepalive: true, Workers: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var requests, connections atomic.Int64
			body := strings.Repeat("x", 1000)
			url := handler(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if r.Header.Get("X-Conn") == "" {
					connections.Add(1)
				}
				io.WriteString(w, body)
			})
			c.Requests = 500
			r := runs(t, url, c)
			if r.Good() != 500 || r.Bad() != 0 || requests.Load() != 500 || r.Unfinished != 0 {
				t.Fatalf("good %d, bad %d, the server answered %d: %v", r.Good(), r.Bad(), requests.Load(), r.Offence)
			}
			if r.Tally.Body != 500*1000 || r.Tally.Status[200] != 500 || r.Tally.Classes[0] != 500 {
				t.Errorf("body bytes %d, statuses %d, class %d", r.Tally.Body, r.Tally.Status[200], r.Tally.Classes[0])
			}
			if got := r.Tally.Connect.N; got != r.Connections {
				t.Errorf("%d connect times of %d connections", got, r.Connections)
			}
			want := uint64(r.Config.Clients)
			if n := uint64(r.Config.PerConn); n > 0 {
				if r.Connections < 500/n {
					t.Errorf("%d connections of %d requests each", r.Connections, n)
				}
			} else if r.Connections != want {
				t.Errorf("%d connections, want %d", r.Connections, want)
			}
			if closed := r.ClosedByServer + r.ClosedByClient; closed > r.Connections {
				t.Errorf("%d connections were closed of %d", closed, r.Connections)
			}
			if !c.Keepalive && !c.CloseFirst && r.ClosedByServer != 500 {
				t.Errorf("the server closed %d connections first, want 500", r.ClosedByServer)
			}
			if c.CloseFirst && r.ClosedByClient != 500 {
				t.Errorf("the client closed %d connections first, want 500", r.ClosedByClient)
			}
		})
	}
}

// TestFaultsByCause has a server do one thing wrong, and expects each
// occurrence under its cause, and the others good.
func TestFaultsByCause(t *testing.T) {
	right := "0123456789"
	sum := sha256.Sum256([]byte(right))
	known := one{bench.Ask{Target: []byte("/x"), Expect: bench.Expect{Length: 10, Sum: &sum}}}
	for name, c := range map[string]struct {
		wrong func(c *net.TCPConn) bool
		fault bench.Fault
	}{
		"reset before the reply": {func(c *net.TCPConn) bool { c.SetLinger(0); return false }, bench.FaultReset},
		"reset within the reply": {func(c *net.TCPConn) bool {
			io.WriteString(c, ok(right)[:45])
			time.Sleep(20 * time.Millisecond)
			c.SetLinger(0)
			return false
		}, bench.FaultReset},
		"short body": {func(c *net.TCPConn) bool { io.WriteString(c, ok(right)[:45]); return false }, bench.FaultShort},
		"short head": {func(c *net.TCPConn) bool { io.WriteString(c, "HTTP/1.1 20"); return false }, bench.FaultShort},
		"short chunks": {func(c *net.TCPConn) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n")
			return false
		}, bench.FaultShort},
		"no HTTP": {func(c *net.TCPConn) bool { io.WriteString(c, "SSH-2.0-OpenSSH\r\n"); return true }, bench.FaultMalformed},
		"bad chunk": {func(c *net.TCPConn) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
			return true
		}, bench.FaultMalformed},
		"extra bytes": {func(c *net.TCPConn) bool { io.WriteString(c, ok(right)+"more"); return true }, bench.FaultMalformed},
		"two lengths": {func(c *net.TCPConn) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 9\r\n\r\n"+right)
			return true
		}, bench.FaultMalformed},
		"status":       {func(c *net.TCPConn) bool { io.WriteString(c, strings.Replace(ok(right), "200", "404", 1)); return true }, bench.FaultStatus},
		"too long":     {func(c *net.TCPConn) bool { io.WriteString(c, ok(right+"x")); return true }, bench.FaultLength},
		"too short":    {func(c *net.TCPConn) bool { io.WriteString(c, ok("012345678")); return true }, bench.FaultLength},
		"empty":        {func(c *net.TCPConn) bool { io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n"); return true }, bench.FaultLength},
		"until close":  {func(c *net.TCPConn) bool { io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n012"); return false }, bench.FaultLength},
		"one bad byte": {func(c *net.TCPConn) bool { io.WriteString(c, ok("0123456780")); return true }, bench.FaultContent},
		"no reply":     {func(c *net.TCPConn) bool { io.Copy(io.Discard, c); return false }, bench.FaultTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveScript(t, func(n int64, conn *net.TCPConn, _ string) bool {
				if n%50 == 25 {
					return c.wrong(conn)
				}
				io.WriteString(conn, ok(right))
				return true
			})
			config := Config{Plan: known, Requests: 200, Clients: 4, Keepalive: true}
			if c.fault == bench.FaultTimeout {
				config.Timeout = time.Second
			}
			r := runs(t, s.url, config)
			var want bench.Faults
			want[bench.FaultNone], want[c.fault] = 196, 4
			if r.Tally.Faults != want {
				t.Errorf("counts %v, want %v; first: %v", r.Tally.Faults, want, r.Offence)
			}
			if r.Tally.Done != 196 || r.Tally.Latency.N != 196 {
				t.Errorf("%d replies counted as throughput, %d in the latency", r.Tally.Done, r.Tally.Latency.N)
			}
			if got := s.requests.Load(); got != 200 {
				t.Errorf("the server saw %d requests, want 200", got)
			}
			if r.Offence == nil || r.Offence.Fault != c.fault || r.Offence.Request != "GET /x" {
				t.Errorf("offence %v", r.Offence)
			}
			verdict, _ := r.Verdict()
			if wrong := c.fault.Wrong(); wrong != (verdict == bench.RepliesWrong) {
				t.Errorf("verdict %s", verdict)
			}
		})
	}
}

// TestRepliesOfEveryFraming has the same body framed in all the ways there
// are, whole and byte by byte.
func TestRepliesOfEveryFraming(t *testing.T) {
	body := "0123456789"
	sum := sha256.Sum256([]byte(body))
	known := one{bench.Ask{Target: []byte("/x"), Expect: bench.Expect{Length: 10, Sum: &sum}}}
	for name, c := range map[string]struct {
		reply string
		keep  bool
	}{
		"length":          {ok(body), true},
		"chunked":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n012\r\n7;x=y\r\n3456789\r\n0\r\nA: b\r\n\r\n", true},
		"until close":     {"HTTP/1.1 200 OK\r\n\r\n" + body, false},
		"until close 1.0": {"HTTP/1.0 200 OK\r\n\r\n" + body, false},
		"close announced": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n" + body, false},
		"interim":         {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok(body), true},
	} {
		for _, step := range []int{1000, 1} {
			t.Run(fmt.Sprintf("%s by %d", name, step), func(t *testing.T) {
				s := serveScript(t, func(_ int64, conn *net.TCPConn, _ string) bool {
					for b := c.reply; b != ""; b = b[min(step, len(b)):] {
						io.WriteString(conn, b[:min(step, len(b))])
					}
					return c.keep
				})
				r := runs(t, s.url, Config{Plan: known, Requests: 20, Clients: 2, Keepalive: true, HashEvery: 1})
				if r.Good() != 20 || r.Bad() != 0 || r.Stale != 0 {
					t.Errorf("good %d, bad %v, stale %d: %v", r.Good(), r.Tally.Faults, r.Stale, r.Offence)
				}
				if want := int64(20 * len(c.reply)); r.Tally.BytesIn != want || r.Tally.Body != 200 {
					t.Errorf("%d bytes, want %d, with %d body bytes", r.Tally.BytesIn, want, r.Tally.Body)
				}
			})
		}
	}
}

// TestClosedKeptConnectionIsMadeAnew has a server close each kept connection
// after three replies without announcing it: no request fails, and the report
// says how many met it.
func TestClosedKeptConnectionIsMadeAnew(t *testing.T) {
	s := serveScript(t, func() answer {
		var perConn [1 << 16]atomic.Int32
		return func(_ int64, c *net.TCPConn, _ string) bool {
			io.WriteString(c, ok("hi"))
			if perConn[c.RemoteAddr().(*net.TCPAddr).Port].Add(1)%3 != 0 {
				return true
			}
			c.CloseWrite()
			io.Copy(io.Discard, c) // closing with a request unread would be a reset
			return false
		}
	}())
	r := runs(t, s.url, Config{Requests: 300, Clients: 5, Keepalive: true})
	if r.Good() != 300 || r.Bad() != 0 {
		t.Errorf("good %d, bad %v: %v", r.Good(), r.Tally.Faults, r.Offence)
	}
	if r.Stale < 90 || r.Stale > 100 || r.ClosedByServer < r.Stale {
		t.Errorf("%d stale connections, the server closed %d", r.Stale, r.ClosedByServer)
	}
}

// TestServerThatClosesEachConnectionUnanswered: what was never answered is not
// taken for a kept connection that was closed meanwhile, and not asked again.
func TestServerThatClosesEachConnectionUnanswered(t *testing.T) {
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool { return false })
	r := runs(t, s.url, Config{Requests: 20, Clients: 2, Keepalive: true})
	if r.Tally.Faults[bench.FaultShort] != 20 || s.requests.Load() != 20 {
		t.Errorf("faults %v, the server saw %d requests", r.Tally.Faults, s.requests.Load())
	}
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/"
	l.Close()
	r := runs(t, url, Config{Requests: 20, Clients: 4})
	if r.Tally.Faults[bench.FaultRefused] != 20 || r.Good() != 0 {
		t.Errorf("faults %v", r.Tally.Faults)
	}
	if verdict, _ := r.Verdict(); verdict != bench.Incomplete {
		t.Errorf("verdict %s", verdict)
	}
	if r.Rate() != 0 {
		t.Errorf("rate %v of refused connections", r.Rate())
	}
}

// TestLengthIsLearned: without a known length the first reply settles it.
func TestLengthIsLearned(t *testing.T) {
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		body := "0123456789"
		if n == 30 {
			body = "012345678"
		}
		io.WriteString(c, ok(body))
		return true
	})
	r := runs(t, s.url, Config{Requests: 100, Clients: 1, Keepalive: true})
	if r.Tally.Faults[bench.FaultLength] != 1 || r.Good() != 99 || r.Offence.Want != 10 || r.Offence.Got != 9 {
		t.Errorf("faults %v, %v", r.Tally.Faults, r.Offence)
	}
}

// TestContentIsLearned: in a list without digests the first reply of each path
// settles its content.
func TestContentIsLearned(t *testing.T) {
	s := serveScript(t, func(n int64, c *net.TCPConn, head string) bool {
		body := "body of " + strings.Fields(head)[1]
		if n == 50 {
			body = strings.ToUpper(body)
		}
		io.WriteString(c, ok(body))
		return true
	})
	list, err := plan.Parse("list", strings.NewReader("/a\n/b\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(list, s.url, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := runs(t, s.url, Config{Plan: p, Requests: 100, Clients: 4, Workers: 2, Keepalive: true})
	if r.Tally.Faults[bench.FaultContent] != 1 || r.Good() != 99 {
		t.Errorf("faults %v, %v", r.Tally.Faults, r.Offence)
	}
}

// TestRequestsOnTheWire compares the bytes that arrive.
func TestRequestsOnTheWire(t *testing.T) {
	ask := bench.Ask{Target: []byte("/a?b")}
	post := bench.Ask{Method: "POST", Target: []byte("/a"), Host: "h", Fields: []byte("X-A: b\r\n"), Body: []byte("hi")}
	for name, c := range map[string]struct {
		config Config
		ask    bench.Ask
		want   string
	}{
		"kept":       {Config{Keepalive: true}, ask, "GET /a?b HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		"kept 1.0":   {Config{Keepalive: true, HTTP10: true}, ask, "GET /a?b HTTP/1.0\r\nConnection: keep-alive\r\nHost: HOST\r\n\r\n"},
		"closed":     {Config{}, ask, "GET /a?b HTTP/1.1\r\nConnection: close\r\nHost: HOST\r\n\r\n"},
		"closed 1.0": {Config{HTTP10: true}, ask, "GET /a?b HTTP/1.0\r\nHost: HOST\r\n\r\n"},
		"post":       {Config{Keepalive: true}, post, "POST /a HTTP/1.1\r\nHost: h\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi"},
		"head lines": {Config{Keepalive: true, Heads: [][]byte{[]byte("Accept: */*\r\n")}}, ask, "GET /a?b HTTP/1.1\r\nHost: HOST\r\nAccept: */*\r\n\r\n"},
		"raw":        {Config{Keepalive: true}, bench.Ask{Raw: []byte("GET / HTTP/1.1\r\nhost: x\r\n\r\n")}, "GET / HTTP/1.1\r\nhost: x\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					got <- err.Error()
					return
				}
				defer conn.Close()
				b := make([]byte, 4096)
				n, _ := conn.Read(b)
				io.WriteString(conn, ok(""))
				got <- string(b[:n])
			}()
			c.config.Plan, c.config.Requests, c.config.Clients = one{c.ask}, 1, 1
			runs(t, "http://"+l.Addr().String(), c.config)
			if want := strings.ReplaceAll(c.want, "HOST", l.Addr().String()); <-got != want {
				t.Errorf("want %q", want)
			}
		})
	}
}

func TestHeadHasNoBody(t *testing.T) {
	url := handler(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "10") })
	for length, fault := range map[int64]bench.Fault{10: bench.FaultNone, 11: bench.FaultLength, -1: bench.FaultNone} {
		p := one{bench.Ask{Method: "HEAD", Target: []byte("/x"), Expect: bench.Expect{Length: length}}}
		r := runs(t, url, Config{Plan: p, Requests: 10, Clients: 1, Keepalive: true})
		if r.Tally.Faults[fault] != 10 {
			t.Errorf("length %d: %v, %v", length, r.Tally.Faults, r.Offence)
		}
	}
}

// TestLargeBodies sends and receives more than a socket holds.
func TestLargeBodies(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	url := handler(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	sum := sha256.Sum256([]byte(body))
	p := one{bench.Ask{Method: "POST", Target: []byte("/x"), Body: []byte(body), Expect: bench.Expect{Length: int64(len(body)), Sum: &sum}}}
	r := runs(t, url, Config{Plan: p, Requests: 6, Clients: 2, Keepalive: true, HashEvery: 1})
	if r.Good() != 6 {
		t.Errorf("faults %v, %v", r.Tally.Faults, r.Offence)
	}
}

// TestWarmupIsDropped compares what the server counted with what was counted
// as warm-up and as result.
func TestWarmupIsDropped(t *testing.T) {
	s := serveScript(t, always(ok("hi"), true))
	r := runs(t, s.url, Config{Duration: 200 * time.Millisecond, Warmup: 100 * time.Millisecond, Clients: 2, Keepalive: true})
	if got := uint64(s.requests.Load()); got != r.Tally.Warmup+r.Good() || r.Tally.Warmup == 0 || r.Good() == 0 {
		t.Errorf("warm-up %d, good %d, the server answered %d", r.Tally.Warmup, r.Good(), got)
	}
	if r.Elapsed != 200*time.Millisecond {
		t.Errorf("elapsed %v", r.Elapsed)
	}
	// What was due before the end of the warm-up, and ended after it, is in the
	// series alone.
	var sum uint64
	for _, n := range r.steps() {
		sum += uint64(n)
	}
	if len(r.steps()) != 2 || sum < r.Tally.Done || sum > r.Tally.Done+2 {
		t.Errorf("%d steps with %d replies, %d in all", len(r.steps()), sum, r.Tally.Done)
	}
	r = runs(t, s.url, Config{Requests: 100, Warmup: 50 * time.Millisecond, Clients: 2, Keepalive: true})
	if r.Good() != 100 {
		t.Errorf("%d requests after the warm-up, want 100", r.Good())
	}
}

func TestThinkTime(t *testing.T) {
	s := serveScript(t, always(ok("hi"), true))
	r := runs(t, s.url, Config{Requests: 20, Clients: 2, Keepalive: true, Arrival: pace.Arrival{Think: 10 * time.Millisecond}})
	if r.Elapsed < 90*time.Millisecond {
		t.Errorf("2 clients thought 9 times 10 ms within %v", r.Elapsed)
	}
	if r.Tally.Latency.Max >= r.Elapsed {
		t.Errorf("thinking is part of the latency: %v", r.Tally.Latency.Max)
	}
}

// TestDurationBeforeTheRequests ends a run by the clock, long after the last
// request that was due: the rate is one of the whole time.
func TestDurationBeforeTheRequests(t *testing.T) {
	t.Parallel()
	s := serveScript(t, always(ok("hi"), true))
	r := runs(t, s.url, Config{Requests: 100, Duration: 300 * time.Millisecond, Clients: 3, Keepalive: true, Arrival: pace.Arrival{Think: time.Hour}})
	if r.Good() != 3 || r.Elapsed != 300*time.Millisecond {
		t.Errorf("%d good in %v", r.Good(), r.Elapsed)
	}
	r = runs(t, s.url, Config{Requests: 100, Duration: time.Hour, Clients: 3, Keepalive: true})
	if r.Good() != 100 || r.Elapsed != r.Tally.Last {
		t.Errorf("%d good in %v, the last after %v", r.Good(), r.Elapsed, r.Tally.Last)
	}
}

// TestTooManyUnderWay are refused before memory is taken for them.
func TestTooManyUnderWay(t *testing.T) {
	p, err := plan.URL("http://127.0.0.1:1/x", plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), Config{URL: "http://127.0.0.1:1/x", Plan: p, Clients: 10, Requests: 100, Keepalive: true, Pipeline: 1e9})
	if err == nil || !strings.Contains(err.Error(), "up to 1048576 in all") {
		t.Errorf("got %v", err)
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	s := serveScript(t, func(int64, *net.TCPConn, string) bool { time.Sleep(50 * time.Millisecond); return true })
	p, err := plan.URL(s.url, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r, err := Run(ctx, Config{URL: s.url, Plan: p, Clients: 3, Duration: time.Hour, Keepalive: true})
	if err != nil {
		t.Fatal(err)
	}
	verdict, reasons := r.Verdict()
	if !r.Interrupted || verdict != bench.Incomplete || r.Unfinished != 3 {
		t.Errorf("interrupted %v, verdict %s %v, unfinished %d", r.Interrupted, verdict, reasons, r.Unfinished)
	}
}

func TestIdleConnections(t *testing.T) {
	release := make(chan struct{})
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		if n == 0 { // the first idle one is closed while the run goes on
			io.WriteString(c, ok("hi"))
			<-release
			return false
		}
		if n == 150 {
			close(release)
		}
		io.WriteString(c, ok("hi"))
		return true
	})
	r := runs(t, s.url, Config{Requests: 100, Clients: 2, Keepalive: true, Idle: 100, Arrival: pace.Arrival{Think: time.Millisecond}})
	if r.Good() != 100 || r.IdleOpened != 100 || r.IdleLost != 1 {
		t.Errorf("good %d, idle %d, lost %d", r.Good(), r.IdleOpened, r.IdleLost)
	}
	if s.accepted.Load() != 102 || s.requests.Load() != 200 {
		t.Errorf("the server accepted %d and answered %d", s.accepted.Load(), s.requests.Load())
	}
}

func TestIdleConnectionsThatCannotBe(t *testing.T) {
	s := serveScript(t, always(ok("hi"), false))
	p, _ := plan.URL(s.url, plan.Options{})
	s2 := serveScript(t, always("HTTP/1.0 200 OK\r\n\r\nhi", false))
	for _, url := range []string{s.url, s2.url} {
		_, err := Run(context.Background(), Config{URL: url, Plan: p, Idle: 3, Requests: 10, Keepalive: true})
		if url == s2.url && (err == nil || !strings.Contains(err.Error(), "idle connections")) {
			t.Errorf("error %v", err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	p, _ := plan.URL("http://127.0.0.1:1/", plan.Options{})
	for want, c := range map[string]Config{
		"no plan":       {URL: "http://127.0.0.1:1/"},
		"expected http": {URL: "127.0.0.1:1", Plan: p},
		"fewer than 10": {URL: "http://127.0.0.1:1/", Plan: p, Requests: 5, Clients: 10},
		"negative":      {URL: "http://127.0.0.1:1/", Plan: p, Clients: -1},
		"descriptors":   {URL: "http://127.0.0.1:1/", Plan: p, Clients: 1 << 30},
		"1 to 65535":    {URL: "http://127.0.0.1:99999/", Plan: p},
		"bind a thread": {URL: "http://127.0.0.1:1/", Plan: p, CPUs: []int{1000}},
	} {
		if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// TestProgress is called about once a second.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := serveScript(t, always(ok("hi"), true))
	var seen []Progress
	r := runs(t, s.url, Config{Duration: 1200 * time.Millisecond, Clients: 1, Keepalive: true, Arrival: pace.Arrival{Think: time.Millisecond},
		Progress: func(p Progress) { seen = append(seen, p) }})
	if len(seen) == 0 || seen[0].Good == 0 || seen[0].Good > r.Good() || seen[0].Left <= 0 || seen[0].Left > time.Second {
		t.Errorf("progress %+v of %d", seen, r.Good())
	}
}
