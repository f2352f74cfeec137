package study

import (
	"fmt"
	"math"
	"slices"
)

// ErrorShare is the share of all exchanges at some points that failed.
type ErrorShare struct{ Points []Point }

// Words implements [Figure].
func (e ErrorShare) Words(s *Study) string {
	text := "failed exchanges, of all: " + s.Cell(e.Points[0])
	if n := len(e.Points); n > 1 {
		text += fmt.Sprintf(" and %d more", n-1)
	}
	return text
}

func (e ErrorShare) value(from source) Value {
	var bad, all float64
	for _, p := range e.Points {
		b, a, missing := from.errors(p)
		if missing != "" {
			return Value{Unknown: missing}
		}
		bad, all = bad+b, all+a
	}
	if all == 0 {
		return Value{Unknown: "nothing was asked"}
	}
	return from.share(bad, all)
}

// wilson is the 95 % interval of a share (Wilson, "Probable inference", JASA
// 22, 1927), which stands near 0 too. Failures come in bunches, so that it is
// narrower than it should be.
func wilson(k, n float64) (lo, hi float64) {
	const z = 1.96
	p := k / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	lo, hi = middle-half, middle+half
	if k == 0 { // and not some 1e-20
		lo = 0
	}
	return lo, math.Min(1, hi)
}

// Repeats is how far repetitions of a point lie apart: the largest less the
// smallest of Of runs, over their median. Its interval is where four of five
// choices of Of runs lie.
type Repeats struct {
	Metric Metric
	Point  Point
	Of     int
}

// Words implements [Figure].
func (r Repeats) Words(s *Study) string {
	name, _ := r.Metric.Words()
	return fmt.Sprintf("%s: how far %d runs lie apart, of their median: %s", name, r.Of, s.Cell(r.Point))
}

func (r Repeats) value(from source) Value {
	xs, missing := from.runs(r.Point, r.Metric)
	if missing != "" {
		return Value{Unknown: missing}
	}
	if len(xs) < r.Of {
		return Value{Unknown: fmt.Sprintf("%d runs were made, and it takes %d", len(xs), r.Of)}
	}
	var apart []float64
	choose(len(xs), r.Of, func(chosen []int) {
		var some []float64
		for _, i := range chosen {
			some = append(some, xs[i])
		}
		slices.Sort(some)
		apart = append(apart, (some[len(some)-1]-some[0])/some[len(some)/2])
	})
	return middling(apart, len(xs))
}

// middling is the median of what all choices of runs come to, with the middle
// four fifths for an interval.
func middling(all []float64, runs int) Value {
	slices.Sort(all)
	at := func(q float64) float64 { return all[int(q*float64(len(all)-1)+.5)] }
	return Value{Median: at(.5), Lo: at(.1), Hi: at(.9), N: runs}
}

// choose calls f with all ascending choices of k out of n numbers.
func choose(n, k int, f func([]int)) {
	chosen := make([]int, 0, k)
	var next func(from int)
	next = func(from int) {
		if len(chosen) == k {
			f(chosen)
			return
		}
		for i := from; i < n; i++ {
			chosen = append(chosen, i)
			next(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	next(0)
}

// Level is a metric at a point itself, for times that mean the same in every
// decade.
type Level struct {
	Metric Metric
	Point  Point
}

// Words implements [Figure].
func (l Level) Words(s *Study) string {
	name, unit := l.Metric.Words()
	return fmt.Sprintf("%s, %s: %s", name, unit, s.Cell(l.Point))
}

func (l Level) value(from source) Value {
	xs, missing := from.runs(l.Point, l.Metric)
	if missing != "" {
		return Value{Unknown: missing}
	}
	return from.summary(xs)
}
