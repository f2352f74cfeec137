package load

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
)

// TestServersThatLookFast answer at once and wrongly, which is no throughput.
func TestServersThatLookFast(t *testing.T) {
	const bad, strays = bench.RepliesWrong, "bytes that nobody had asked for"
	right := ok("0123456789")
	status := func(line string) string { return strings.Replace(right, "200 OK", line, 1) }
	for name, c := range map[string]struct {
		reply   string
		keep    bool
		fault   bench.Fault
		verdict bench.Verdict
	}{
		"500":                      {status("500 Internal Server Error"), true, bench.FaultStatus, bad},
		"a redirect":               {status("301 Moved Permanently"), true, bench.FaultStatus, bad},
		"304 that was not asked":   {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", true, bench.FaultStatus, bad},
		"204 with a body":          {status("204 No Content"), true, bench.FaultMalformed, bad},
		"another protocol":         {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\x00\x01", true, bench.FaultMalformed, bad},
		"a length too short":       {strings.Replace(right, "10", "5", 1), true, bench.FaultMalformed, bad},
		"a length too long":        {strings.Replace(right, "10", "20", 1), false, bench.FaultShort, bench.Incomplete},
		"two replies":              {right + right, true, bench.FaultMalformed, bad},
		"cut off":                  {right[:len(right)-5], false, bench.FaultShort, bench.Incomplete},
		"cut off in a chunk":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n01234", false, bench.FaultShort, bench.Incomplete},
		"without the last chunk":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n", false, bench.FaultShort, bench.Incomplete},
		"cut off in a trailer":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\nA: b\r\n", false, bench.FaultShort, bench.Incomplete},
		"closed and not a word":    {"", false, bench.FaultShort, bench.Incomplete},
		"another service's banner": {"220 mail.example ESMTP\r\n", true, bench.FaultMalformed, bad},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveScript(t, always(c.reply, c.keep))
			r := runs(t, s.url, Config{Requests: 40, Clients: 2, Keepalive: true})
			verdict, reasons := r.Verdict()
			if r.Tally.Faults[c.fault] != 40 || r.Good() != 0 || r.Rate() != 0 || verdict != c.verdict {
				t.Errorf("%d good, faults %v, rate %v, %s: %q; first: %v", r.Good(), r.Tally.Faults, r.Rate(), verdict, reasons, r.Offence)
			}
			if !strings.Contains(strings.Join(reasons, "; "), "no good reply") {
				t.Errorf("reasons %q", reasons)
			}
		})
	}
	for name, c := range map[string]Config{
		"kept, with pauses":         {Keepalive: true, Arrival: pace.Arrival{Think: 20 * time.Millisecond}},
		"a connection for each":     {},
		"on connections not in use": {Keepalive: true, Clients: 1, Arrival: pace.Arrival{Kind: pace.Constant, Rate: 50}},
	} {
		t.Run("one more reply, later, "+name, func(t *testing.T) {
			s := serveScript(t, func(_ int64, conn *net.TCPConn, head string) bool {
				reply := right
				if strings.Contains(head, "Connection: close") {
					reply = strings.Replace(right, "\r\n", "\r\nConnection: close\r\n", 1)
				}
				io.WriteString(conn, reply)
				time.Sleep(5 * time.Millisecond)
				io.WriteString(conn, reply)
				return true
			})
			c.Requests, c.Clients = 10, 1
			r := runs(t, s.url, c)
			if verdict, reasons := r.Verdict(); verdict != bad || r.Stray == 0 || !strings.Contains(strings.Join(reasons, "; "), strays) {
				t.Errorf("%s: %q; %d connections with stray bytes, faults %v", verdict, reasons, r.Stray, r.Tally.Faults)
			}
		})
	}
}

// TestRequestTimeoutIsNoStrayReply: some servers say 408 before they close a
// connection on which nothing comes.
func TestRequestTimeoutIsNoStrayReply(t *testing.T) {
	s := serveScript(t, func(_ int64, c *net.TCPConn, _ string) bool {
		io.WriteString(c, ok("hi"))
		time.Sleep(5 * time.Millisecond)
		io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		return false
	})
	r := runs(t, s.url, Config{Requests: 5, Clients: 1, Keepalive: true, Arrival: pace.Arrival{Think: 50 * time.Millisecond}})
	if verdict, reasons := r.Verdict(); r.Good() != 5 || verdict != bench.Valid || r.Stray != 0 || r.ClosedByServer < 4 {
		t.Errorf("%d good, %s: %q; %d closed by the server", r.Good(), verdict, reasons, r.ClosedByServer)
	}
}

// swallowing answers all but each fourth request, which it reads to its end
// before it closes the connection in good order.
func swallowing(t *testing.T) *scripted {
	return serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		if n%4 == 3 {
			return false
		}
		io.WriteString(c, ok("hi"))
		return true
	})
}

// TestSwallowedRequestsShow: a server that closes a kept connection in place of
// an answer can't be told from one that closed it meanwhile. The request is
// sent again, but the result is none to be used; and what may not be done twice
// is not sent again.
func TestSwallowedRequestsShow(t *testing.T) {
	s := swallowing(t)
	r := runs(t, s.url, Config{Requests: 300, Clients: 1, Keepalive: true})
	verdict, reasons := r.Verdict()
	want := fmt.Sprintf("%d of 300 requests were sent again: the server had closed their kept connections unannounced, and may have had them", r.Stale)
	if r.Good() != 300 || r.Stale < 90 || verdict != bench.Incomplete || !slices.Contains(reasons, want) {
		t.Errorf("%d good, %d sent again, %s: %q", r.Good(), r.Stale, verdict, reasons)
	}
	if got := uint64(s.requests.Load()); got != 300+r.Stale {
		t.Errorf("the server had %d requests, but 300 and %d again were told of", got, r.Stale)
	}

	s = swallowing(t)
	post := one{bench.Ask{Method: "POST", Target: []byte("/x"), Expect: bench.Expect{Length: 2}}}
	r = runs(t, s.url, Config{Plan: post, Requests: 300, Clients: 1, Keepalive: true})
	if r.Stale != 0 || r.Tally.Faults[bench.FaultShort] != 75 || s.requests.Load() != 300 {
		t.Errorf("%d sent again, faults %v, the server had %d requests", r.Stale, r.Tally.Faults, s.requests.Load())
	}
}

// TestSlowServerAtOneClient: the rate is the server's own, and the verdict says
// nothing against it.
func TestSlowServerAtOneClient(t *testing.T) {
	const takes = 20 * time.Millisecond
	s := serveScript(t, func(_ int64, c *net.TCPConn, _ string) bool {
		time.Sleep(takes)
		io.WriteString(c, ok("hi"))
		return true
	})
	r := runs(t, s.url, Config{Requests: 20, Clients: 1, Keepalive: true})
	if most := 1 / takes.Seconds(); r.Good() != 20 || r.Rate() > most || r.Tally.Latency.Min < takes {
		t.Errorf("%d good, %v a second, the fastest in %v", r.Good(), r.Rate(), r.Tally.Latency.Min)
	}
}

// TestServerSlowerThanTheTimeout: what came too late is a fault, and not in the
// latency.
func TestServerSlowerThanTheTimeout(t *testing.T) {
	t.Parallel()
	const limit, asleep = 100 * time.Millisecond, 500 * time.Millisecond
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		if n%5 == 4 {
			time.Sleep(asleep)
		}
		io.WriteString(c, ok("hi"))
		return true
	})
	r := runs(t, s.url, Config{Requests: 50, Clients: 2, Keepalive: true, Timeout: limit})
	verdict, reasons := r.Verdict()
	late := r.Tally.Faults[bench.FaultTimeout] // a busy machine may add some
	if late < 10 || r.Good()+late != 50 || r.Bad() != late || verdict != bench.Incomplete || r.Tally.Latency.Max >= asleep {
		t.Errorf("%d good, faults %v, %s: %q, latency up to %v", r.Good(), r.Tally.Faults, verdict, reasons, r.Tally.Latency.Max)
	}
}
