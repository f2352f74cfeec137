package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Comparison is what two cells say about their difference.
type Comparison struct {
	// Ratio is the median of a/b over the pairs, with its interval.
	Ratio Summary
	// P is the two-sided Mann-Whitney probability of a difference as large
	// as this if there is none; 1 when the test cannot be made. It does not
	// use the pairing and is shown beside the interval, never instead of it.
	P float64
}

// ComparePairs compares runs that were made pair by pair: a[i] and b[i] one
// right after the other, so that what disturbs the machine for longer than a
// run disturbs both. Pairs in which a figure is not a positive number are left
// out of the ratio. It leaves its arguments as they are.
func ComparePairs(a, b []float64) Comparison {
	var logs []float64
	for i := range min(len(a), len(b)) {
		if usable(a[i]) && usable(b[i]) {
			logs = append(logs, math.Log(a[i]/b[i]))
		}
	}
	// The logarithm makes the middle of two ratios their geometric mean, so
	// that a/b and b/a are exact inverses for even n too.
	m := Median(logs)
	ratio := Summary{Median: math.Exp(m.Median), Lo: math.Exp(m.Lo), Hi: math.Exp(m.Hi), N: m.N}
	return Comparison{Ratio: ratio, P: MannWhitney(a, b)}
}

func usable(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// MannWhitney returns the two-sided p of the Mann-Whitney U test, exact for
// small samples. Values that are not numbers are left out. It is 1 when a
// sample is empty or all values are equal.
func MannWhitney(a, b []float64) float64 {
	a = slices.DeleteFunc(slices.Clone(a), math.IsNaN)
	b = slices.DeleteFunc(slices.Clone(b), math.IsNaN)
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	t := &benchmath.DefaultThresholds
	return benchmath.AssumeNothing.Compare(benchmath.NewSample(a, t), benchmath.NewSample(b, t)).P
}

// A Side says where an interval lies of a value.
type Side int

// The sides.
const (
	Unclear Side = iota // the interval holds the value, or there is none
	Below
	Above
)

// SideOf says on which side of v the whole interval of s lies.
func SideOf(s Summary, v float64) Side {
	switch {
	case !s.Bounded() || s.Holds(v):
		return Unclear
	case s.Hi < v:
		return Below
	}
	return Above
}

// Agrees says whether a measured ratio lies on the same side of 1 as a
// published one: true when its whole interval does, false when it lies wholly
// on the other side. known is false when the interval holds 1, when there is
// none, or when the published ratio is 1 itself. Sizes are not judged: no rate
// is comparable across decades.
func Agrees(measured Summary, published float64) (agrees, known bool) {
	side := SideOf(measured, 1)
	if side == Unclear || published == 1 || !usable(published) {
		return false, false
	}
	return (side == Above) == (published > 1), true
}
