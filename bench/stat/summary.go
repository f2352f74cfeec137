package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Confidence is the least level of every interval: with n runs the interval's
// true level is the binomial value at or above it (6: 96.9 %, 10: 97.9 %,
// 11: 98.8 %, 20: 95.9 %).
const Confidence = 0.95

// MinRuns is the smallest number of runs from which a 95 % order-statistics
// interval of a median exists: with five, even the whole range has 93.75 %.
const MinRuns = 6

// A Summary is what several runs say of one figure, in the figure's own unit.
// It is a value; nothing owns it.
type Summary struct {
	Median float64
	// Lo and Hi bound the interval of the median; minus and plus infinity
	// when N is below [MinRuns].
	Lo, Hi float64
	N      int
}

// Median returns the median of xs, each from one run, with its
// order-statistics interval. It leaves xs as it is. Without runs the median is
// NaN.
func Median(xs []float64) Summary {
	inf := math.Inf(1)
	if len(xs) == 0 {
		return Summary{Median: math.NaN(), Lo: -inf, Hi: inf}
	}
	up := summary(slices.Clone(xs))
	// Where two intervals are equally good (n = 7, 9, 11 ...) benchmath takes
	// the lower one, so that a/b and b/a would not mirror each other. The
	// union with the interval of the mirrored figures is symmetrical.
	mirrored := slices.Clone(xs)
	for i := range mirrored {
		mirrored[i] = -mirrored[i]
	}
	down := summary(mirrored)
	return Summary{
		Median: up.Center,
		Lo:     math.Min(up.Lo, -down.Hi),
		Hi:     math.Max(up.Hi, -down.Lo),
		N:      len(xs),
	}
}

func summary(xs []float64) benchmath.Summary {
	sample := benchmath.NewSample(xs, &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, Confidence)
}

// Bounded says whether s has an interval.
func (s Summary) Bounded() bool { return !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) && s.N > 0 }

// Holds says whether v lies inside the interval; one without bounds holds
// every value.
func (s Summary) Holds(v float64) bool { return s.Lo <= v && v <= s.Hi }
