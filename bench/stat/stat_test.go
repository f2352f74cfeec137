package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedianKnown(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		xs   []float64
		want Summary
	}{
		{"five have no interval", []float64{5, 1, 4, 2, 3}, Summary{3, -inf, inf, 5}},
		{"six: the whole range", []float64{6, 1, 5, 2, 4, 3}, Summary{3.5, 1, 6, 6}},
		{"ten: second and ninth", []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Summary{5.5, 2, 9, 10}},
		{"eleven: second and tenth", []float64{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Summary{6, 2, 10, 11}},
		{"twenty: sixth and fifteenth", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
			Summary{10.5, 6, 15, 20}},
	} {
		before := slices.Clone(c.xs)
		got := Median(c.xs)
		if math.Abs(got.Median-c.want.Median) > 1e-9 || got.Lo != c.want.Lo || got.Hi != c.want.Hi || got.N != c.want.N {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if !slices.Equal(before, c.xs) {
			t.Errorf("%s: the argument was changed", c.name)
		}
	}
	if m := Median(nil); !math.IsNaN(m.Median) || m.Bounded() {
		t.Errorf("no runs: %+v", m)
	}
}

// exactLevel returns the probability that the order statistics k and n+1-k of
// n values hold the median, for the k that Median uses.
func exactLevel(n int) float64 {
	pmf := math.Pow(0.5, float64(n)) // of 0 values below the median
	below := 0.0
	for k := 0; ; k++ {
		if 2*(below+pmf) > 1-Confidence {
			return 1 - 2*below
		}
		below += pmf
		pmf *= float64(n-k) / float64(k+1)
	}
}

func TestIntervalCoversTheTruth(t *testing.T) {
	for n, level := range map[int]float64{6: 0.969, 10: 0.979, 11: 0.988, 20: 0.959} {
		if math.Abs(exactLevel(n)-level) > 0.0006 {
			t.Errorf("n=%d: exact level %.4f, want %.3f", n, exactLevel(n), level)
		}
		// A skewed distribution, as latencies have; its median is 1.
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		const trials = 2000
		hits := 0
		for range trials {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = math.Exp(rng.NormFloat64())
			}
			if Median(xs).Holds(1) {
				hits++
			}
		}
		if got := float64(hits) / trials; math.Abs(got-level) > 0.015 {
			t.Errorf("n=%d: covers the median in %.3f of the runs, want %.3f", n, got, level)
		}
	}
}

func TestPairRatioCoversTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 11))
	const trials, n, truth = 2000, 10, 1.2
	hits, claims := 0, 0
	for range trials {
		a, b, same := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range a {
			drift := math.Exp(rng.NormFloat64()) // hits both of a pair
			noise := func() float64 { return math.Exp(0.05 * rng.NormFloat64()) }
			a[i], b[i], same[i] = truth*drift*noise(), drift*noise(), drift*noise()
		}
		if ComparePairs(a, b).Ratio.Holds(truth) {
			hits++
		}
		if SideOf(ComparePairs(b, same).Ratio, 1) != Unclear {
			claims++
		}
	}
	if got := float64(hits) / trials; math.Abs(got-0.979) > 0.015 {
		t.Errorf("covers the ratio in %.3f of the runs, want 0.979", got)
	}
	if got := float64(claims) / trials; got > 0.036 {
		t.Errorf("claims a difference in %.3f of the runs without one", got)
	}
}

func TestRatioMirrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{6, 7, 9, 10, 11, 12} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = 1+rng.Float64(), 2+rng.Float64()
		}
		ab, ba := ComparePairs(a, b).Ratio, ComparePairs(b, a).Ratio
		for _, p := range [][2]float64{{ab.Median, ba.Median}, {ab.Lo, ba.Hi}, {ab.Hi, ba.Lo}} {
			if math.Abs(p[0]*p[1]-1) > 1e-12 {
				t.Errorf("n=%d: %v and %v are not inverse", n, ab, ba)
			}
		}
	}
}

func TestUnusableFiguresAreLeftOut(t *testing.T) {
	r := ComparePairs([]float64{2, 0, 2, math.NaN(), 2}, []float64{1, 1, 0, 1, 1}).Ratio
	if r.N != 2 || r.Median != 2 || r.Bounded() {
		t.Errorf("got %+v", r)
	}
}

// Hollander and Wolfe, Nonparametric Statistical Methods, 1973, page 69
// (permeability of the human chorioamnion), as in the help of R's wilcox.test:
// W = 35, one-sided p = 0.1272.
func TestMannWhitneyPublished(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if p := MannWhitney(x, y); math.Abs(p-2*0.1272) > 0.0002 {
		t.Errorf("p = %.4f, want 0.2544", p)
	}
	// The example of scipy.stats.mannwhitneyu: ages at onset of diabetes, exact
	// p 14/126.
	men, women := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	if p := MannWhitney(men, women); math.Abs(p-0.1111) > 0.0001 {
		t.Errorf("p = %.4f, want 0.1111", p)
	}
	// The example of R's wilcox.test with ties: ozone in New York in May and
	// in August 1973 (airquality), W = 127.5, p = 0.0001208.
	may := []float64{41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37}
	august := []float64{39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85}
	if p := MannWhitney(may, august); math.Abs(p-0.0001208) > 0.000002 {
		t.Errorf("p = %.7f, want 0.0001208", p)
	}
	apart := MannWhitney([]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12})
	if math.Abs(apart-2.0/924) > 1e-9 { // 2 of the 924 orders are this extreme
		t.Errorf("two apart groups of six: p = %v, want %v", apart, 2.0/924)
	}
	if p := MannWhitney(nil, y); p != 1 {
		t.Errorf("empty sample: p = %v", p)
	}
	if p := MannWhitney([]float64{3, 3, 3}, []float64{3, 3, 3}); p != 1 {
		t.Errorf("all equal: p = %v", p)
	}
}

func TestSides(t *testing.T) {
	for _, c := range []struct {
		lo, hi, published float64
		side              Side
		agrees, known     bool
	}{
		{1.1, 1.3, 4.5, Above, true, true},
		{0.8, 0.9, 4.5, Below, false, true},
		{0.8, 0.9, 0.5, Below, true, true},
		{0.9, 1.1, 4.5, Unclear, false, false},
		{1.1, 1.3, 1, Above, false, false},
		{math.Inf(-1), math.Inf(1), 4.5, Unclear, false, false},
	} {
		s := Summary{Median: 1, Lo: c.lo, Hi: c.hi, N: 6}
		agrees, known := Agrees(s, c.published)
		if SideOf(s, 1) != c.side || agrees != c.agrees || known != c.known {
			t.Errorf("[%v, %v] against %v: side %v, agrees %v, known %v", c.lo, c.hi, c.published, SideOf(s, 1), agrees, known)
		}
	}
}
