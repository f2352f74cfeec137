package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/tally"
)

// A virtual server answers what is begun at a time at a later time.
type virtual func(n uint64, begun time.Duration) (answered time.Duration)

// stalling answers within 100 us, but not in the first 200 ms of each second.
func stalling(_ uint64, begun time.Duration) time.Duration {
	if begun%time.Second < 200*time.Millisecond {
		begun = begun.Truncate(time.Second) + 200*time.Millisecond
	}
	return begun + 100*time.Microsecond
}

// lognormal takes a time whose logarithm is normally distributed, with a
// median of 20 ms.
func lognormal() virtual {
	times := lognormals(20*time.Millisecond, 0.8, 1<<16)
	return func(n uint64, begun time.Duration) time.Duration { return begun + times[n%uint64(len(times))] }
}

func lognormals(median time.Duration, sigma float64, n int) []time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(float64(median) * math.Exp(sigma*random.NormFloat64()))
	}
	return all
}

// onVirtualClock has places for requests take what the pacer says is due, in
// the way of a worker, on a clock that costs nothing.
func onVirtualClock(a *pace.Arrival, places int, until time.Duration, server virtual) (t *tally.Tally, samples []bench.Sample) {
	t = tally.New(tally.Config{Classes: 1, Until: until})
	pacer := a.Pacer(0, 1)
	var free schedule // places, by when they come free
	for range places {
		free.push(appointment{})
	}
	for n := uint64(0); len(free) > 0; {
		done := free.pop().at
		due, more := pacer.Due(n, done)
		if !more || due >= until || done >= until {
			continue
		}
		begun := max(due, done)
		s := bench.Sample{Due: due, Ready: begun - due, Started: begun - due, Last: server(n, begun) - due}
		t.Add(&s)
		samples = append(samples, s)
		free.push(appointment{at: s.Ended()})
		n++
	}
	return t, samples
}

// TestQuantilesAreExactOnAVirtualClock compares the tally's quantiles with
// those of the latencies as they must be, computed without pacer, schedule and
// histogram, to the bucket.
func TestQuantilesAreExactOnAVirtualClock(t *testing.T) {
	const rate, seconds = 5000, 10
	for name, server := range map[string]virtual{"stall": stalling, "lognormal": lognormal()} {
		for _, places := range []int{100000, 256, 64} {
			t.Run(fmt.Sprintf("%s, %d places", name, places), func(t *testing.T) {
				a := pace.Arrival{Kind: pace.Constant, Rate: rate}
				got, _ := onVirtualClock(&a, places, seconds*time.Second, server)
				want := make([]time.Duration, 0, rate*seconds)
				frees := make([]time.Duration, min(places, rate*seconds))
				for n := range rate * seconds {
					due := time.Duration(n) * time.Second / rate
					place := 0
					if places < rate*seconds {
						for i, f := range frees {
							if f < frees[place] {
								place = i
							}
						}
					} else {
						place = n
					}
					if frees[place] >= seconds*time.Second {
						break // nobody is free before the end
					}
					frees[place] = server(uint64(n), max(due, frees[place]))
					want = append(want, frees[place]-due)
				}
				slices.Sort(want)
				if got.Latency.N != uint64(len(want)) || got.Latency.Max != want[len(want)-1] {
					t.Fatalf("%d samples up to %v, want %d up to %v", got.Latency.N, got.Latency.Max, len(want), want[len(want)-1])
				}
				for _, q := range []float64{.5, .9, .99, .999} {
					exact := want[int(math.Ceil(q*float64(len(want))))-1]
					v, ok := got.Latency.Quantile(q)
					if !ok || !got.Latency.Hist.ValuesAreEquivalent(int64(v), int64(exact)) && v != exact {
						t.Errorf("%v-quantile %v, want the bucket of %v", q, v, exact)
					}
				}
			})
		}
	}
}

// TestClosedLoopHidesTheStall compares open and closed loop with what theory
// says of a server that answers nothing for a fifth of the time.
func TestClosedLoopHidesTheStall(t *testing.T) {
	const clients, rate, seconds = 8, 5000, 10
	const long = 150 * time.Millisecond
	count := func(samples []bench.Sample, of func(*bench.Sample) time.Duration) (n int) {
		for i := range samples {
			if of(&samples[i]) > long {
				n++
			}
		}
		return n
	}
	latency := func(s *bench.Sample) time.Duration { return s.Last }
	// Closed: each client meets each stall once.
	closed, samples := onVirtualClock(&pace.Arrival{}, clients, seconds*time.Second, stalling)
	if n := count(samples, latency); n != clients*seconds {
		t.Errorf("closed: %d long times, want %d", n, clients*seconds)
	}
	if closed.Latency.Sum != closed.Service.Sum {
		t.Error("closed: latency and service time differ")
	}
	if p99, _ := closed.Latency.Quantile(.99); p99 > time.Millisecond {
		t.Errorf("closed: p99 %v shows the stall, which 80 of %d requests met", p99, len(samples))
	}
	// Open: all that come meanwhile meet it, the first for the whole of it,
	// and the chance to wait longer than x is (200 ms - x) a second.
	open, samples := onVirtualClock(&pace.Arrival{Kind: pace.Constant, Rate: rate}, 1<<20, seconds*time.Second, stalling)
	if n := count(samples, latency); n < rate*seconds*49/1000 || n > rate*seconds*51/1000 {
		t.Errorf("open: %d long times, want 50 of each 1,000", n)
	}
	if p99, _ := open.Latency.Quantile(.99); p99 < 189*time.Millisecond || p99 > 191*time.Millisecond {
		t.Errorf("open: p99 %v, want 190 ms", p99)
	}
	// With few connections the rest queue at the client: their service time
	// looks like a closed loop's, their latency does not.
	few, samples := onVirtualClock(&pace.Arrival{Kind: pace.Constant, Rate: rate}, clients, seconds*time.Second, stalling)
	if n := count(samples, (*bench.Sample).Service); n != clients*seconds {
		t.Errorf("few connections: %d long service times, want %d", n, clients*seconds)
	}
	if p99, _ := few.Latency.Quantile(.99); p99 < 189*time.Millisecond {
		t.Errorf("few connections: p99 %v, want at least 190 ms", p99)
	}
}
