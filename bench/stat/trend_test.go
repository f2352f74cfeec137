package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Hollander and Wolfe 1973, table A.21: P(K >= x) one-sided.
func TestKendallPublished(t *testing.T) {
	for _, c := range []struct {
		n, s int
		want float64
	}{{4, 6, 0.042}, {5, 8, 0.042}, {5, 10, 0.008}, {6, 11, 0.028}, {7, 15, 0.015}, {10, 21, 0.036}} {
		if p := kendall(c.n, c.s, false) / 2; math.Abs(p-c.want) > 0.0006 {
			t.Errorf("n=%d S=%d: p = %.4f, want %.3f", c.n, c.s, p, c.want)
		}
		if kendall(c.n, c.s, false) != kendall(c.n, -c.s, false) {
			t.Errorf("n=%d S=%d: a fall is not as likely as a rise", c.n, c.s)
		}
	}
}

func TestTrend(t *testing.T) {
	up := TrendOf([]float64{100, 102, 104, 106, 108, 110})
	if math.Abs(up.Change-10.0/105) > 1e-9 || math.Abs(up.P-2.0/720) > 1e-9 {
		t.Errorf("a rise: %+v", up)
	}
	if flat := TrendOf([]float64{5, 5, 5, 5, 5, 5}); flat.Change != 0 || flat.P != 1 {
		t.Errorf("no change: %+v", flat)
	}
	if few := TrendOf([]float64{1, 2, 3}); few.P != 1 {
		t.Errorf("three: %+v", few)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := 0
	for range 2000 {
		xs := make([]float64, 10)
		for i := range xs {
			xs[i] = rng.Float64()
		}
		if TrendOf(xs).P < 0.01 {
			seen++
		}
	}
	if seen > 35 {
		t.Errorf("a trend is seen in %d of 2000 series without one", seen)
	}
}

func TestSettled(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	series := func(n int, at func(i int) float64) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = at(i) * (1 + 0.01*rng.NormFloat64())
		}
		return xs
	}
	for _, c := range []struct {
		name    string
		xs      []float64
		lo, hi  int
		settled bool
	}{
		{"steady", series(30, func(int) float64 { return 1000 }), 0, 0, true},
		{"slow start", series(30, func(i int) float64 { return 1000 * min(1, 0.3+0.1*float64(i)) }), 6, 8, true},
		{"one slow step", series(30, func(i int) float64 { return map[bool]float64{true: 200, false: 1000}[i == 0] }), 2, 2, true},
		{"late jump", series(30, func(i int) float64 { return map[bool]float64{true: 500, false: 1000}[i < 22] }), 0, 16, false},
		{"nothing", nil, 0, 0, true},
		{"two", []float64{1, 5}, 0, 0, true},
	} {
		n, settled := Settled(c.xs)
		if n < c.lo || n > c.hi || settled != c.settled {
			t.Errorf("%s: warm-up %d, settled %v", c.name, n, settled)
		}
	}
}

func TestRanking(t *testing.T) {
	f := func(lo, m, hi float64) Summary { return Summary{Median: m, Lo: lo, Hi: hi, N: 10} }
	got := Ranking([]Summary{f(30, 31, 32), f(10, 11, 12), f(12.5, 14, 15), f(14, 13.9, 16), f(31, 33, 35)})
	want := [][]int{{1}, {3, 2}, {0, 4}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	none := Ranking([]Summary{f(1, 1, 2), Median([]float64{9}), f(5, 6, 7)})
	if len(none) != 1 {
		t.Errorf("a figure without an interval is ranked: %v", none)
	}
	if Ranking(nil) != nil {
		t.Error("nothing is ranked")
	}
}
