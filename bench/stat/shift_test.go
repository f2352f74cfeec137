package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Hollander and Wolfe, Nonparametric Statistical Methods, 1973, section 4.1
// (permeability of the human chorioamnion): shift 0.305, and the interval that
// R's wilcox.test(x, y, conf.int = TRUE) prints.
func TestShiftPublished(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	s := shift(x, y)
	for name, p := range map[string][2]float64{"shift": {s.Median, 0.305}, "low": {s.Lo, -0.15}, "high": {s.Hi, 0.76}} {
		if math.Abs(p[0]-p[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, p[0], p[1])
		}
	}
}

func TestRankSums(t *testing.T) {
	// Mann and Whitney 1947, table I: P(U <= u).
	for _, c := range []struct {
		m, n, u int
		want    float64
	}{{3, 3, 0, 0.050}, {3, 3, 2, 0.200}, {4, 4, 0, 0.014}, {4, 4, 3, 0.100}, {5, 5, 4, 0.048}, {6, 6, 5, 0.021}, {8, 8, 13, 0.025}} {
		sum := 0.0
		for _, p := range rankSums(c.m, c.n)[:c.u+1] {
			sum += p
		}
		if math.Abs(sum-c.want) > 0.0006 {
			t.Errorf("P(U <= %d) with %d and %d: %.4f, want %.3f", c.u, c.m, c.n, sum, c.want)
		}
	}
}

func TestUnpairedRatioCoversTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	const trials, truth = 2000, 1.2
	hits, claims := 0, 0
	for range trials {
		a, b, same := make([]float64, 10), make([]float64, 6), make([]float64, 6)
		for i := range a {
			a[i] = truth * math.Exp(0.1*rng.NormFloat64())
		}
		for i := range b {
			b[i], same[i] = math.Exp(0.1*rng.NormFloat64()), math.Exp(0.1*rng.NormFloat64())
		}
		if CompareUnpaired(a, b).Ratio.Holds(truth) {
			hits++
		}
		if SideOf(CompareUnpaired(b, same).Ratio, 1) != Unclear {
			claims++
		}
	}
	// P(U <= 11) with 10 and 6 is 0.0215: the interval's level is 95.8 %.
	if got := float64(hits) / trials; math.Abs(got-0.958) > 0.015 {
		t.Errorf("covers the ratio in %.3f of the runs, want 0.958", got)
	}
	if got := float64(claims) / trials; got > 0.06 {
		t.Errorf("claims a difference in %.3f of the runs without one", got)
	}
}

func TestUnpairedFewRuns(t *testing.T) {
	if r := CompareUnpaired([]float64{2}, []float64{1}).Ratio; r.Median != 2 || r.Bounded() || r.N != 1 {
		t.Errorf("one run each: %+v", r)
	}
	if r := CompareUnpaired(nil, []float64{1}).Ratio; !math.IsNaN(r.Median) || r.N != 0 {
		t.Errorf("no runs: %+v", r)
	}
	ab, ba := CompareUnpaired([]float64{3, 4, 5, 6}, []float64{1, 2, 3, 4, 5}).Ratio, CompareUnpaired([]float64{1, 2, 3, 4, 5}, []float64{3, 4, 5, 6}).Ratio
	if math.Abs(ab.Median*ba.Median-1) > 1e-12 || math.Abs(ab.Lo*ba.Hi-1) > 1e-12 {
		t.Errorf("%+v and %+v are not inverse", ab, ba)
	}
	many := make([]float64, 60)
	for i := range many {
		many[i] = float64(i + 1)
	}
	if r := CompareUnpaired(many, many).Ratio; r.Median != 1 || !r.Holds(1) || !r.Bounded() {
		t.Errorf("sixty runs: %+v", r)
	}
}
