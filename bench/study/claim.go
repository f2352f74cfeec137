package study

import (
	"fmt"
	"math"
	"strconv"
)

// A Claim is one of a study's conclusions as a statement that can be checked:
// a figure, and where it must lie.
type Claim struct {
	Text   string
	Figure Figure
	Want   Range
}

// A Range is where a figure must lie, its ends included; a zero Hi is no
// upper bound.
type Range struct{ Lo, Hi float64 }

// top is the upper bound, infinite if there is none.
func (r Range) top() float64 {
	if r.Hi == 0 {
		return math.Inf(1)
	}
	return r.Hi
}

// String says the range in words.
func (r Range) String() string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	switch {
	case r.Hi == 0:
		return "at least " + text(r.Lo)
	case r.Lo == 0:
		return "at most " + text(r.Hi)
	}
	return text(r.Lo) + " to " + text(r.Hi)
}

// A Value is what a figure comes to.
type Value struct {
	Median, Lo, Hi float64 // an infinite or zero end is not known
	N              int
	// Unknown is why there is none, or no interval.
	Unknown string
	// Noise is the factor by which the same server twice differed in this
	// metric; 1 when nobody knows, or where it is not about that.
	Noise float64
	// Open says why an end of the interval is not known.
	Open string
}

// A Figure is what a claim looks at, as a number without a dimension.
type Figure interface {
	// Words say what it is.
	Words(*Study) string
	value(source) Value
}

// A source is where figures come from: runs that were made, or a study's own
// tables.
type source interface {
	// runs are the metric's values at a point, and why there are none.
	runs(p Point, m Metric) (xs []float64, missing string)
	// bounded says whether the rate at a point is the server's own.
	bounded(p Point) bool
	// errors counts the exchanges at a point that failed.
	errors(p Point) (bad, all float64, missing string)
	// posts counts the POSTs at a point that were logged wrong.
	posts(p Point) (bad, all float64, missing string)
	// noise is the factor by which the same server twice differs.
	noise(m Metric) float64
	// summary is the middle of several runs' values, with the interval.
	summary(xs []float64) Value
	// share is part of a whole, with the interval.
	share(part, whole float64) Value
}

// A Quotient is the product of one metric at some points over that at others:
// with two points a ratio, with four a ratio of ratios.
type Quotient struct {
	Metric   Metric
	Num, Den []Point
	// Seen takes rates as the clients saw them, whatever set them: for what a
	// server does to its clients, not for what it could do.
	Seen bool
}

// ratio is one metric of a point over that of another.
func ratio(m Metric, a, b Point) Quotient {
	return Quotient{Metric: m, Num: []Point{a}, Den: []Point{b}}
}

// seen is ratio, of rates as clients saw them.
func seen(m Metric, a, b Point) Quotient {
	return Quotient{Metric: m, Num: []Point{a}, Den: []Point{b}, Seen: true}
}

// Words implements [Figure].
func (q Quotient) Words(s *Study) string {
	name, _ := q.Metric.Words()
	if len(q.Num) == 1 && len(q.Den) == 1 {
		return fmt.Sprintf("%s: %s, to %s", name, s.Cell(q.Num[0]), s.Cell(q.Den[0]))
	}
	return fmt.Sprintf("%s: the ratio of (%s) to (%s), over that of (%s) to (%s)", name,
		s.Cell(q.Num[0]), s.Cell(q.Den[0]), s.Cell(q.Den[1]), s.Cell(q.Num[1]))
}

func (q Quotient) value(from source) Value {
	v := perRun(from, q.Metric, append(q.Num[:len(q.Num):len(q.Num)], q.Den...), func(xs []float64) float64 {
		r := 1.
		for i, x := range xs {
			if i < len(q.Num) {
				r *= x
			} else {
				r /= x
			}
		}
		return r
	})
	v.Noise = from.noise(q.Metric)
	if q.Seen || !q.Metric.rate() {
		return v
	}
	return v.unbounded(from, q.Num, q.Den)
}

// unbounded opens the interval where a rate is no more than a lower bound of
// what the server can do: the client or the other core was the limit.
func (v Value) unbounded(from source, num, den []Point) Value {
	const why = "the rate of a server whose core was under 95 % busy is not all it can do"
	for _, p := range num {
		if !from.bounded(p) {
			v.Hi, v.Open = math.Inf(1), why
		}
	}
	for _, p := range den {
		if !from.bounded(p) {
			v.Lo, v.Open = 0, why
		}
	}
	return v
}

// Evenness is the smallest of a metric's values at some points over the
// largest: 1 for a curve that is flat.
type Evenness struct {
	Metric Metric
	Points []Point
}

// Words implements [Figure].
func (e Evenness) Words(s *Study) string {
	name, _ := e.Metric.Words()
	return fmt.Sprintf("%s: the lowest over the highest of %s to %s", name, s.Cell(e.Points[0]), s.Cell(e.Points[len(e.Points)-1]))
}

func (e Evenness) value(from source) Value {
	v := perRun(from, e.Metric, e.Points, func(xs []float64) float64 {
		lo, hi := xs[0], xs[0]
		for _, x := range xs {
			lo, hi = math.Min(lo, x), math.Max(hi, x)
		}
		return lo / hi
	})
	if e.Metric.rate() {
		return v.unbounded(from, e.Points, e.Points)
	}
	return v
}

// Order is the smallest ratio of a metric at each point to that at the next:
// above 1 when the points are in descending order.
type Order struct {
	Metric Metric
	Points []Point
}

// Words implements [Figure].
func (o Order) Words(s *Study) string {
	name, _ := o.Metric.Words()
	text := name + ": the smallest step of "
	for i, p := range o.Points {
		if i > 0 {
			text += " > "
		}
		text += s.Cell(p)
	}
	return text
}

func (o Order) value(from source) Value {
	v := perRun(from, o.Metric, o.Points, func(xs []float64) float64 {
		least := math.Inf(1)
		for i := range xs[1:] {
			least = math.Min(least, xs[i]/xs[i+1])
		}
		return least
	})
	v.Noise = from.noise(o.Metric)
	if o.Metric.rate() {
		return v.unbounded(from, o.Points[:len(o.Points)-1], o.Points[1:])
	}
	return v
}

// perRun puts together a figure of each repetition from the values at all
// points in it.
func perRun(from source, m Metric, at []Point, of func([]float64) float64) Value {
	all := make([][]float64, len(at))
	n := math.MaxInt
	for i, p := range at {
		xs, missing := from.runs(p, m)
		if missing != "" {
			return Value{Unknown: missing}
		}
		all[i] = xs
		n = min(n, len(xs))
	}
	var figures []float64
	for k := range n {
		row := make([]float64, len(at))
		for i := range at {
			row[i] = all[i][k]
		}
		if v := of(row); v > 0 && !math.IsInf(v, 0) {
			figures = append(figures, v)
		}
	}
	return from.summary(figures)
}
