package load

import (
	"fmt"
	"io"
	"math"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/pace"
)

// A holdLog is a server's own log of how long it held each reply: from when
// it had read the request to when it had written the reply.
type holdLog struct {
	mu   sync.Mutex
	held []time.Duration
}

func (l *holdLog) add(d time.Duration) {
	l.mu.Lock()
	l.held = append(l.held, d)
	l.mu.Unlock()
}

// take empties the log and returns how many replies it had, and a quantile of
// what they were held.
func (l *holdLog) take(q float64) (n int, held time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = len(l.held); n > 0 {
		slices.Sort(l.held)
		held = l.held[int(math.Ceil(q*float64(n)))-1]
	}
	l.held = l.held[:0]
	return n, held
}

// TestOtherToolsBeside prints what wrk and hey, as they are installed, say of
// a server that answers nothing for 200 ms of each second, beside an open
// loop and the server's own log of the same requests. Of independent users one
// in a hundred waits 190 ms or more. Both tools wait for a reply before they
// ask again (hey does so at a rate), so few of their requests meet a stall, and
// what they report is true of these and of nobody else.
func TestOtherToolsBeside(t *testing.T) {
	var log holdLog
	start := time.Now()
	reply := ok("hi")
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		read := time.Now()
		stallOnTheWire(int(n), time.Since(start))
		io.WriteString(c, reply)
		log.add(time.Since(read))
		return true
	})
	for _, tool := range []struct {
		name, pattern string
		args          []string
	}{
		{"wrk", `99%\s+([\d.]+[mu]?s)`, []string{"-t1", "-c8", "-d2s", "--latency", s.url}},
		{"hey", `99% in ([\d.]+ secs)`, []string{"-z", "2s", "-c", "8", "-q", "150", s.url}},
	} {
		path, err := exec.LookPath(tool.name)
		if err != nil {
			cannot(t, "%v", err)
		}
		out, err := exec.Command(path, tool.args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", tool.name, err)
		}
		m := regexp.MustCompile(tool.pattern).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s said:\n%s", tool.name, out)
		}
		n, held := log.take(.99)
		t.Logf("%-30s p99 %-12s the server held 99 %% of its %d replies for up to %v", fmt.Sprint(tool.name, " ", tool.args[:len(tool.args)-1]), m[1], n, held)
	}
	r := runs(t, s.url, Config{Duration: 2 * time.Second, Clients: 64, Keepalive: true, Arrival: pace.Arrival{Kind: pace.Constant, Rate: 1200}})
	n, held := log.take(.99)
	p99, _ := r.Tally.Latency.Quantile(.99)
	t.Logf("%-30s p99 %-12v the server held 99 %% of its %d replies for up to %v", "weighstone, 1,200 a second", p99, n, held)
	t.Log("users who come independently wait up to 190ms, by theory, in 99 % of cases")
	if p99 < 180*time.Millisecond {
		t.Errorf("an open loop hides the stall: p99 %v", p99)
	}
}
