package load

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/plan"
)

// TestEverySecondReplyFails: a server that fails half of the exchanges gives no
// result to be used, whichever way it fails them.
func TestEverySecondReplyFails(t *testing.T) {
	whole := ok("0123456789")
	for name, part := range map[string]string{"no reply": "", "half a head": whole[:20], "half a body": whole[:len(whole)-5]} {
		t.Run(name, func(t *testing.T) {
			s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
				if n%2 == 1 {
					io.WriteString(c, part)
				} else {
					io.WriteString(c, whole)
				}
				return false
			})
			r := runs(t, s.url, Config{Requests: 1000, Clients: 4})
			verdict, reasons := r.Verdict()
			if r.Good() != 500 || verdict != bench.Incomplete || !slices.Contains(reasons, "500 of 1,000 exchanges failed: short 500") {
				t.Errorf("%d good, %s: %q", r.Good(), verdict, reasons)
			}
		})
	}
}

// TestRepliesThatEndAfterTheWindow are no throughput, and without any there is
// nothing that was measured.
func TestRepliesThatEndAfterTheWindow(t *testing.T) {
	t.Parallel()
	s := serveScript(t, func(_ int64, c *net.TCPConn, _ string) bool {
		time.Sleep(time.Second)
		io.WriteString(c, ok("late"))
		return true
	})
	r := runs(t, s.url, Config{Duration: 200 * time.Millisecond, Clients: 1, Keepalive: true})
	verdict, reasons := r.Verdict()
	if r.Good() != 1 || r.Rate() != 0 || verdict != bench.Incomplete || !slices.Contains(reasons, "no reply ended within the 0.2 s measured") {
		t.Errorf("%d good, rate %v, %s: %q", r.Good(), r.Rate(), verdict, reasons)
	}
	// The client was being served all the time that was measured, not longer.
	if l := r.Little(); l < 0.5 || l > 1 {
		t.Errorf("Little's load of 1 client is %.2f", l)
	}
	waitedFor(t, r)
}

// TestTimeoutBoundsTheWait that a server which never answers costs after the
// end.
func TestTimeoutBoundsTheWait(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	s := serveScript(t, func(int64, *net.TCPConn, string) bool { <-done; return false })
	t.Cleanup(func() { close(done) }) // before the server's own, which waits
	r := runs(t, s.url, Config{Duration: 100 * time.Millisecond, Clients: 2, Timeout: 700 * time.Millisecond})
	verdict, reasons := r.Verdict()
	if r.Tally.Faults[bench.FaultTimeout] != 2 || r.Bad() != 2 || verdict != bench.Incomplete || !slices.Contains(reasons, "there was no good reply") {
		t.Errorf("faults %v, %s: %q", r.Tally.Faults, verdict, reasons)
	}
	waitedFor(t, r)
}

// waitedFor expects the text of r to tell of the wait after the end.
func waitedFor(t *testing.T, r *Result) {
	t.Helper()
	var text bytes.Buffer
	if err := WriteText(&text, r); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("s after the window: a reply is waited for, up to %v\n", r.Config.Timeout); !strings.Contains(text.String(), want) {
		t.Errorf("no line with %q in\n%s", want, &text)
	}
}

// TestVariableLength: pages that change are good only where that was said.
func TestVariableLength(t *testing.T) {
	for variable, good := range map[bool]uint64{false: 10, true: 100} {
		s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
			io.WriteString(c, ok(strings.Repeat("x", int(n%10))))
			return true
		})
		p, err := plan.URL(s.url, plan.Options{VariableLength: variable})
		if err != nil {
			t.Fatal(err)
		}
		r := runs(t, s.url, Config{Plan: p, Requests: 100, Clients: 1, Keepalive: true})
		if r.Good() != good || r.Tally.Faults[bench.FaultLength] != 100-good {
			t.Errorf("variable length %v: %d good, faults %v", variable, r.Good(), r.Tally.Faults)
		}
	}
}

// TestFewRequests take no more clients than they are, unless those were named.
func TestFewRequests(t *testing.T) {
	s := serveScript(t, always(ok("hi"), false))
	if r := runs(t, s.url, Config{Requests: 5}); r.Config.Clients != 5 || r.Good() != 5 {
		t.Errorf("%d clients, %d good", r.Config.Clients, r.Good())
	}
}
