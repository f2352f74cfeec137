package load

import (
	"bytes"
	"cmp"
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
		before := time.Now()
		c.Write(reply)
		if n < room { // a closed loop may go beyond; its log is not looked at
			log.before[n], log.after[n] = before, time.Now()
		}
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
// server's own log of when each reply was released: in the median of five runs
// they differ by at most 2 %, or 1 ms where that is more.
//
// A run that the generator itself calls client-bound, for its lag, is no
// result: it is made again, at most twenty times in all. Where the machine is
// so busy that fewer than three are good, the generator has claimed nothing
// that could be wrong.
func TestTailIsTheServers(t *testing.T) {
	const wanted, enough, attempts = 5, 3, 20
	ownProcessors(t)
	slow := lognormals(20*time.Millisecond, 0.8, tailRequests)
	for name, c := range map[string]struct {
		hold    func(n int, since time.Duration)
		clients int
	}{
		"stall, and requests must queue": {stallOnTheWire, 64},
		"lognormal":                      {func(n int, _ time.Duration) { time.Sleep(slow[n]) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			var good, all []tailRun
			for len(good) < wanted && len(all) < attempts {
				r := runTail(t, c.hold, c.clients)
				t.Log(r)
				if all = append(all, r); r.Good {
					good = append(good, r)
				}
			}
			t.Logf("%d of %d runs are good by the generator's own gate", len(good), len(all))
			if len(good) < enough {
				t.Skipf("the machine kept the generator from keeping time in all but %d of %d runs, and it said so each time: its tails are not claimed then", len(good), len(all))
			}
			for i, q := range tailQuantiles {
				slices.SortFunc(good, func(a, b tailRun) int { return cmp.Compare(a.Off[i], b.Off[i]) })
				median := good[len(good)/2]
				t.Logf("p%v in the median run: off by %v, allowed %v", 100*q, median.Off[i], allowed(median.Want[i]))
				if median.Off[i] > allowed(median.Want[i]) {
					t.Errorf("p%v is off by %v, more than 2 %% and 1 ms of %v", 100*q, median.Off[i], median.Want[i])
				}
			}
		})
	}
}

const tailRate, tailRequests = 1200, 1200

var tailQuantiles = [...]float64{.99, .999}

// allowed is how far a quantile may be off.
func allowed(want time.Duration) time.Duration { return max(want/50, time.Millisecond) }

// A tailRun is one comparison of a run with the server's log.
type tailRun struct {
	Good bool // the generator says that it kept time
	Got  [len(tailQuantiles)]time.Duration
	Want [len(tailQuantiles)]time.Duration // by the server's log
	Off  [len(tailQuantiles)]time.Duration
	Lag  time.Duration // the 99th percentile of it
}

func (r tailRun) String() string {
	return fmt.Sprintf("p99 %v, by the server's log %v; p99.9 %v, by the log %v; lag %v, good %v", r.Got[0], r.Want[0], r.Got[1], r.Want[1], r.Lag, r.Good)
}

func runTail(t *testing.T, hold func(n int, since time.Duration), clients int) (out tailRun) {
	url, log := released(t, hold)
	r := runs(t, url, Config{
		Plan: numbered{new(int)}, Requests: tailRequests, Clients: clients, Workers: 1, Keepalive: true,
		Arrival: pace.Arrival{Kind: pace.Constant, Rate: tailRate},
	})
	if r.Good() != tailRequests {
		t.Fatalf("good %d: %v", r.Good(), r.Offence)
	}
	out.Good = float64(r.Tally.Lagged) <= maxLagged*tailRequests
	out.Lag, _ = r.Tally.Lag.Quantile(.99)
	for i, q := range tailQuantiles {
		// By rank: the log has the same requests, so that few are enough.
		rank := int(math.Ceil(q * tailRequests))
		low, high := log.quantile(r.Start, tailRequests, tailRate, rank)
		out.Got[i], _ = r.Tally.Latency.Rank(uint64(rank))
		out.Want[i] = low
		out.Off[i] = max(low-out.Got[i], out.Got[i]-high, 0)
	}
	return out
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
	t.Parallel()
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
