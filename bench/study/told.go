package study

import (
	"fmt"
	"math"

	"github.com/weighstone/weighstone/bench/stat"
)

// Told is a figure that the study tells in its text, its tables being lost:
// from Lo to Hi, where a zero Hi is "more than Lo", without a size, and without
// a Lo no direction is told either.
type Told struct {
	Figure
	Claim  string // the published row that tells it
	Lo, Hi float64
}

func (t Told) value(from source) Value {
	if _, theirs := from.(tables); !theirs {
		return t.Figure.value(from)
	}
	if t.Lo == 0 {
		return Value{Unknown: "not published"}
	}
	said := Range{Lo: t.Lo, Hi: t.Hi}
	return Value{Median: math.Sqrt(t.Lo * said.top()), Lo: t.Lo, Hi: said.top(), N: 1, Noise: 1}
}

// Flattery is by how much the best of some runs is above the median of all: 1
// if not at all. Its interval is where four of five choices of Of runs lie.
type Flattery struct {
	Metric Metric
	Point  Point
	Of     int
}

// Words implements [Figure].
func (f Flattery) Words(s *Study) string {
	name, _ := f.Metric.Words()
	return fmt.Sprintf("%s: the best of %d runs over the median of all: %s", name, f.Of, s.Cell(f.Point))
}

func (f Flattery) value(from source) Value {
	xs, missing := from.runs(f.Point, f.Metric)
	if missing != "" {
		return Value{Unknown: missing}
	}
	if len(xs) <= f.Of {
		return Value{Unknown: fmt.Sprintf("%d runs were made, and it takes more than %d", len(xs), f.Of)}
	}
	middle := stat.Median(xs).Median
	var above []float64
	choose(len(xs), f.Of, func(chosen []int) {
		best := 0.
		for _, i := range chosen {
			best = max(best, xs[i])
		}
		above = append(above, best/middle)
	})
	return middling(above, len(xs))
}
