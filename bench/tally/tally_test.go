package tally

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weighstone/weighstone/bench"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestAddSortsSamples(t *testing.T) {
	tally := New(Config{Classes: 2, From: 1000 * ms, Until: 2000 * ms})
	for _, s := range []bench.Sample{
		{Due: 10 * ms, Last: 5 * ms, BytesIn: 1, Status: 200},                                                                      // warm-up
		{Due: 999 * ms, Last: 5 * ms, BytesIn: 10, Status: 200},                                                                    // warm-up that ends in the window
		{Due: 1000 * ms, Started: 1 * ms, Connected: 3 * ms, Sent: 4 * ms, First: 8 * ms, Last: 9 * ms, BytesIn: 100, Status: 200}, // good
		{Due: 1100 * ms, Started: 2 * ms, Last: 12 * ms, BytesIn: 1000, Status: 404, Class: 1, Fault: bench.FaultStatus},
		{Due: 1200 * ms, Last: 2000 * ms, BytesIn: 10000, Status: 200}, // ends after the window
		{Due: 1300 * ms, Last: 1 * ms, Fault: bench.FaultRefused},
		{Due: 1300 * ms, Last: 1 * ms, Status: 999, Fault: bench.FaultStatus},
	} {
		tally.Add(&s)
	}
	var faults bench.Faults
	faults[bench.FaultNone], faults[bench.FaultStatus], faults[bench.FaultRefused] = 2, 2, 1
	if tally.Faults != faults || tally.Warmup != 2 || tally.Status[200] != 2 || tally.Status[404] != 1 || tally.Status[999] != 1 {
		t.Errorf("faults %v, warm-up %d", tally.Faults, tally.Warmup)
	}
	if tally.Done != 2 || tally.DoneBytes != 110 || tally.BytesIn != 11100 {
		t.Errorf("done %d, %d bytes of %d", tally.Done, tally.DoneBytes, tally.BytesIn)
	}
	// 4 ms of the one from the warm-up, 9 ms, and 800 ms of the one that ends later.
	if tally.Served != 813*ms {
		t.Errorf("served for %v of the window", tally.Served)
	}
	if tally.Late != 1 || tally.Last != 3200*ms || !slices.Equal(tally.Classes, []uint64{4, 1}) {
		t.Errorf("late %d, last %v, classes %v", tally.Late, tally.Last, tally.Classes)
	}
	if l := tally.Latency; l.N != 2 || l.Sum != 2009*ms || l.Min != 9*ms || l.Max != 2000*ms {
		t.Errorf("latency %+v", l)
	}
	if tally.Service.Min != 8*ms || tally.Connect.Max != 2*ms || tally.Connect.N != 1 || tally.First.Min != 0 || tally.First.Max != 4*ms {
		t.Errorf("service %v, connect %v, first %v", tally.Service.Min, tally.Connect.Max, tally.First.Min)
	}
	var series []int
	for i, n := range tally.Series {
		for range n {
			series = append(series, i)
		}
	}
	if !slices.Equal(series, []int{0, 10, 10, 32}) {
		t.Errorf("completions in steps %v", series)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	tally := New(Config{Classes: 1})
	s := bench.Sample{Last: time.Hour, Status: 200}
	if n := testing.AllocsPerRun(1000, func() {
		tally.Add(&s)
		s.Last = s.Last * 9 / 10
	}); n != 0 {
		t.Errorf("%v allocations a sample", n)
	}
}

func TestQuantileNeedsSamples(t *testing.T) {
	times := newTimes()
	for i := range 1000 {
		times.add(time.Duration(i) * ms)
		_, ok := times.Quantile(0.99)
		if want := i+1 >= 1000; ok != want {
			t.Fatalf("p99 of %d samples: %v", i+1, ok)
		}
	}
	if _, ok := times.Quantile(0.999); ok {
		t.Error("p99.9 of 1,000 samples")
	}
	for q, want := range map[float64]time.Duration{0.5: 499 * ms, 0.9: 899 * ms, 0.99: 989 * ms} {
		if got, ok := times.Quantile(q); !ok || got < want || got > want+want/1000 {
			t.Errorf("%v-quantile %v, want %v", q, got, want)
		}
	}
	if mean, _ := times.Mean(); mean != 499500*time.Microsecond {
		t.Errorf("mean %v", mean)
	}
}

func TestOverIsCountedApart(t *testing.T) {
	times := newTimes()
	for range 20 {
		times.add(61 * time.Second)
	}
	times.add(time.Second)
	if times.Over != 20 || times.N != 21 || times.Max != 61*time.Second || times.Hist.TotalCount() != 1 {
		t.Errorf("%+v", times)
	}
	if q, ok := times.Quantile(0.5); ok {
		t.Errorf("median %v, though most are over", q)
	}
}

// TestMergeEqualsConcatenation deals samples to two tallies and compares their
// merger with one that has them all.
func TestMergeEqualsConcatenation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Classes: 3, From: 10 * time.Second, Until: 60 * time.Second}
		all, a, b := New(c), New(c), New(c)
		for _, s := range rapid.SliceOfN(anySample(), 0, 50).Draw(t, "samples") {
			all.Add(&s)
			if rapid.Bool().Draw(t, "to a") {
				a.Add(&s)
			} else {
				b.Add(&s)
			}
		}
		a.Merge(b)
		same(t, all, a)
	})
}

func anySample() *rapid.Generator[bench.Sample] {
	return rapid.Custom(func(t *rapid.T) bench.Sample {
		d := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(70*time.Second)).Draw(t, name))
		}
		return bench.Sample{
			Due: d("due"), Ready: d("ready"), Started: d("started"), Connected: d("connected"), Sent: d("sent"), First: d("first"), Last: d("last"),
			BytesIn: rapid.Int64Range(0, 1<<30).Draw(t, "bytes"), Status: rapid.Uint16Range(0, 700).Draw(t, "status"),
			Class: rapid.Uint16Range(0, 2).Draw(t, "class"), Fault: bench.Fault(rapid.IntRange(0, bench.NumFaults-1).Draw(t, "fault")),
		}
	})
}

// same fails unless two tallies are equal. It takes their histograms away.
func same(t *rapid.T, a, b *Tally) {
	others := b.Metrics()
	for i, m := range a.Metrics() {
		if !m.Hist.Equals(others[i].Hist) {
			t.Fatalf("histograms of %v differ", Metric(i))
		}
		m.Hist, others[i].Hist = nil, nil
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Fatal(d)
	}
}

// TestRankIsTheSortedValue compares with sorting, to the width of a bucket.
func TestRankIsTheSortedValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), 1, 300).Draw(t, "values")
		times := newTimes()
		for _, v := range values {
			times.add(time.Duration(v))
		}
		slices.Sort(values)
		for k, v := range values {
			got, ok := times.Rank(uint64(k + 1))
			width := math.Max(512, float64(v)/1000)
			if !ok || int64(got) < v || float64(int64(got)-v) > width {
				t.Fatalf("rank %d: %d, want %d", k+1, got, v)
			}
		}
	})
}
