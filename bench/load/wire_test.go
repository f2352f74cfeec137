package load

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
)

// numbered is a plan whose requests carry their number, in the order in which
// they are begun. It is for one worker.
type numbered struct{ next *int }

func (numbered) Classes() []bench.Class    { return []bench.Class{{Name: "/n", Weight: 1}} }
func (p numbered) Script(int) bench.Script { return p }

func (p numbered) Next(a *bench.Ask) {
	scratch := append(a.Scratch[:0], "/n?"...)
	scratch = strconv.AppendInt(scratch, int64(*p.next), 10)
	*p.next++
	*a = bench.Ask{Target: scratch, Scratch: scratch, Expect: bench.Expect{Length: 2}}
}

// numberOf reads the number of a request.
func numberOf(head string) int {
	_, rest, _ := strings.Cut(head, "?")
	n, _ := strconv.Atoi(rest[:strings.IndexByte(rest, ' ')])
	return n
}

// A releaseLog is a server's own log of when it let each reply go: between
// two looks at the clock, which lie apart when it was made to wait for a core.
type releaseLog struct {
	before, after []time.Time
	written       atomic.Int64
}

// quantile returns between what the rank-th smallest latency of n requests at
// a rate lies, by the log.
func (l *releaseLog) quantile(start time.Time, n, rate, rank int) (low, high time.Duration) {
	for l.written.Load() < int64(n) {
		time.Sleep(time.Millisecond) // the last reply has been read before its second look
	}
	of := func(at []time.Time) time.Duration {
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = at[i].Sub(start) - time.Duration(i)*time.Second/time.Duration(rate)
		}
		slices.Sort(all)
		return all[rank-1]
	}
	return of(l.before), of(l.after)
}

// released serves numbered requests, each after hold has returned.
func released(t *testing.T, hold func(n int, since time.Duration)) (url string, log *releaseLog) {
	const room = 1 << 16
	log = &releaseLog{before: make([]time.Time, room), after: make([]time.Time, room)}
	start := time.Now()
	reply := []byte(ok("hi"))
	s := serveScript(t, func(_ int64, c *net.TCPConn, head string) bool {
		n := numberOf(head)
		hold(n, time.Since(start))
		log.before[n] = time.Now()
		c.Write(reply)
		log.after[n] = time.Now()
		log.written.Add(1)
		return true
	})
	return s.url, log
}

// stallOnTheWire sleeps through the first 200 ms of each second.
func stallOnTheWire(_ int, since time.Duration) {
	if phase := since % time.Second; phase < 200*time.Millisecond {
		time.Sleep(200*time.Millisecond - phase)
	}
}

// ownProcessors has the load generator find a processor of the Go runtime
// when it wakes, as if the server were another process.
func ownProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(16)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestTailIsTheServers compares p99 and p99.9 of an open loop with the
// server's own log of when each reply was released: the median difference of
// five runs is at most 2 %, or 1 ms.
func TestTailIsTheServers(t *testing.T) {
	const rate, requests = 1200, 1500
	ownProcessors(t)
	slow := lognormals(20*time.Millisecond, 0.8, requests)
	for name, c := range map[string]struct {
		hold    func(n int, since time.Duration)
		clients int
	}{
		"stall, and requests must queue": {stallOnTheWire, 64},
		"lognormal":                      {func(n int, _ time.Duration) { time.Sleep(slow[n]) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			runsEach := 5
			if testing.Short() {
				runsEach = 1
			}
			off := map[float64][]float64{}
			for range runsEach {
				url, log := released(t, c.hold)
				r := runs(t, url, Config{
					Plan: numbered{new(int)}, Requests: requests, Clients: c.clients, Workers: 1, Keepalive: true,
					Arrival: pace.Arrival{Kind: pace.Constant, Rate: rate},
				})
				if r.Good() != requests {
					t.Fatalf("good %d: %v", r.Good(), r.Offence)
				}
				for _, q := range []float64{.99, .999} {
					// By rank: the log has the same requests, so that few are enough.
					rank := int(math.Ceil(q * requests))
					low, high := log.quantile(r.Start, requests, rate, rank)
					got, _ := r.Tally.Latency.Rank(uint64(rank))
					away := max(low-got, got-high, 0)
					off[q] = append(off[q], float64(away)/float64(max(low/50, time.Millisecond)))
					t.Logf("p%v: %v, by the server's log from %v to %v", 100*q, got, low, high)
				}
			}
			for q, all := range off {
				slices.Sort(all)
				if median := all[len(all)/2]; median > 1 && runsEach > 1 {
					t.Errorf("p%v is off by %.2f times what is allowed, in the median; all: %.2f", 100*q, median, all)
				}
			}
		})
	}
}

// TestClosedLoopOnTheWire: against the same server a closed loop has each
// client meet each stall once, whatever the load, as the server saw it.
func TestClosedLoopOnTheWire(t *testing.T) {
	const clients = 8
	const long = 150 * time.Millisecond
	var held atomic.Int64
	url, _ := released(t, func(n int, since time.Duration) {
		stallOnTheWire(n, since)
		if since%time.Second < 200*time.Millisecond-long {
			held.Add(1)
		}
	})
	r := runs(t, url, Config{Plan: numbered{new(int)}, Duration: 1500 * time.Millisecond, Clients: clients, Workers: 1, Keepalive: true})
	var longer, all int64
	for _, b := range r.Tally.Latency.Hist.Distribution() {
		if all += b.Count; b.From >= int64(long) {
			longer += b.Count
		}
	}
	if longer < held.Load() || longer > 4*clients || held.Load() == 0 {
		t.Errorf("%d of %d times are longer than %v; the server held %d replies as long, and stalled twice for %d clients", longer, all, long, held.Load(), clients)
	}
}

// TestFaultsAreCountedAsTheServerMadeThem has one reply in a hundred reset and
// one in 10,000 wrong by a byte, in a closed and in an open loop.
func TestFaultsAreCountedAsTheServerMadeThem(t *testing.T) {
	const requests = 20000
	right := strings.Repeat("0123456789", 10)
	wrong := right[:50] + "x" + right[51:]
	sum := sha256.Sum256([]byte(right))
	known := one{bench.Ask{Target: []byte("/x"), Expect: bench.Expect{Length: 100, Sum: &sum}}}
	for name, arrival := range map[string]pace.Arrival{
		"closed": {}, "open": {Kind: pace.Poisson, Rate: 20000},
	} {
		t.Run(name, func(t *testing.T) {
			var resets, wrongs, rights atomic.Int64
			s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
				switch {
				case n%100 == 50:
					resets.Add(1)
					c.SetLinger(0)
					return false
				case n%10000 == 7777:
					wrongs.Add(1)
					io.WriteString(c, ok(wrong))
				default:
					rights.Add(1)
					io.WriteString(c, ok(right))
				}
				return true
			})
			r := runs(t, s.url, Config{Plan: known, Requests: requests, Clients: 16, Keepalive: true, Arrival: arrival})
			var want bench.Faults
			want[bench.FaultNone] = uint64(rights.Load())
			want[bench.FaultReset] = uint64(resets.Load())
			want[bench.FaultContent] = uint64(wrongs.Load())
			if r.Tally.Faults != want || wrongs.Load() != 2 || resets.Load() != 200 {
				t.Errorf("counts %v, the server's %v", r.Tally.Faults, want)
			}
			if n := r.Tally.Done; n != want[bench.FaultNone] {
				t.Errorf("%d replies counted as throughput, want %d", n, want[bench.FaultNone])
			}
			if verdict, _ := r.Verdict(); verdict != bench.RepliesWrong {
				t.Errorf("verdict %s", verdict)
			}
			if r.Connections != 16+200 && r.Connections != 16+200-uint64(r.Config.Clients) {
				t.Logf("%d connections", r.Connections)
			}
			if !bytes.Contains(r.Offence.Excerpt, []byte("200 OK")) && r.Offence.Fault == bench.FaultContent {
				t.Errorf("offence %v", r.Offence)
			}
		})
	}
}

// TestDroppedRequestsAreCounted: what is due and finds no free connection
// before the end is neither sent nor forgotten.
func TestDroppedRequestsAreCounted(t *testing.T) {
	s := serveScript(t, func(_ int64, c *net.TCPConn, _ string) bool {
		time.Sleep(50 * time.Millisecond)
		io.WriteString(c, ok("hi"))
		return true
	})
	for _, kind := range []pace.Kind{pace.Constant, pace.Poisson} {
		before := s.requests.Load()
		r := runs(t, s.url, Config{Duration: 500 * time.Millisecond, Clients: 4, Workers: 2, Keepalive: true, Arrival: pace.Arrival{Kind: kind, Rate: 1000}})
		sent := uint64(s.requests.Load() - before)
		if r.Good() != sent || sent > 44 {
			t.Errorf("%s: %d good, the server answered %d", kind, r.Good(), sent)
		}
		due := float64(sent + r.Dropped)
		if slack := 5 * math.Sqrt(500); kind == pace.Constant && due != 500 || math.Abs(due-500) > slack {
			t.Errorf("%s: %d sent and %d dropped, but 500 were due", kind, sent, r.Dropped)
		}
		if r.Tally.Late < sent/2 || r.Tally.Latency.Max < r.Tally.Service.Max {
			t.Errorf("%s: %d of %d late, latency up to %v, service time up to %v", kind, r.Tally.Late, sent, r.Tally.Latency.Max, r.Tally.Service.Max)
		}
	}
	closed := runs(t, s.url, Config{Duration: 200 * time.Millisecond, Clients: 4, Keepalive: true})
	if closed.Dropped != 0 || closed.Tally.Late > 4 { // the first of each client may be, when its thread is
		t.Errorf("a closed loop dropped %d and was late with %d", closed.Dropped, closed.Tally.Late)
	}
}

func TestRateIsKept(t *testing.T) {
	s := serveScript(t, always(ok("hi"), true))
	for _, a := range []pace.Arrival{
		{Kind: pace.Constant, Rate: 1000},
		{Kind: pace.Constant, From: 500, Rate: 1500, Over: time.Second},
	} {
		for _, workers := range []int{1, 2} {
			r := runs(t, s.url, Config{Duration: time.Second / 2, Clients: 32, Workers: workers, Keepalive: true, Arrival: a})
			want := a.Expected(time.Second / 2)
			if n := float64(r.Good() + r.Dropped); math.Abs(n-want) > 1 {
				t.Errorf("%+v, %d workers: %d good and %d dropped, want %v", a, workers, r.Good(), r.Dropped, want)
			}
		}
	}
}

func TestLadder(t *testing.T) {
	s := serveScript(t, always(ok("hi"), true))
	p := one{bench.Ask{Target: []byte("/x"), Expect: bench.Expect{Length: 2}}}
	all, err := Ladder(t.Context(), Config{URL: s.url, Plan: p, Requests: 50, Keepalive: true}, []int{2, 4, 8})
	if err != nil {
		t.Fatal(err)
	}
	var clients []string
	for _, r := range all {
		if r.Good() != 50 {
			t.Errorf("%d clients: %d good", r.Config.Clients, r.Good())
		}
		clients = append(clients, fmt.Sprint(r.Config.Clients))
	}
	if got := strings.Join(clients, " "); got != "2 4 8" {
		t.Errorf("steps %s", got)
	}
	var b bytes.Buffer
	if err := WriteText(&b, all...); err != nil || strings.Count(b.String(), "\n") != 7 {
		t.Errorf("error %v, text:\n%s", err, b.String())
	}
}
