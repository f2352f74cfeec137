package study

import (
	"fmt"
	"math"
)

// Most is the most connections that one server held under the SPECweb99-style
// workload, over the most that another did, of the loads that were tried. With
// Each, it is those for each of the server's processors.
type Most struct {
	Num, Den           []Point // the loads of each
	Each               bool
	NumCores, DenCores int // for Each
}

// Words implements [Figure].
func (m Most) Words(s *Study) string {
	each := ""
	if m.Each {
		each = " for each processor"
	}
	return fmt.Sprintf("the most connections held%s: %s, to %s", each, s.Server(m.Num[0].Server).Label(), s.Server(m.Den[0].Server).Label())
}

func (m Most) value(from source) Value {
	num, missing := most(from, m.Num)
	if missing != "" {
		return Value{Unknown: missing}
	}
	den, missing := most(from, m.Den)
	if missing != "" {
		return Value{Unknown: missing}
	}
	var ratios []float64
	for i := range min(len(num), len(den)) {
		r := num[i] / den[i]
		if m.Each {
			r *= float64(m.DenCores) / float64(m.NumCores)
		}
		if r > 0 && !math.IsInf(r, 0) && !math.IsNaN(r) {
			ratios = append(ratios, r)
		}
	}
	return from.summary(ratios)
}

// most is, for each repetition, the most connections held at any of the points
// that were tried.
func most(from source, points []Point) (best []float64, missing string) {
	for _, p := range points {
		xs, why := from.runs(p, Held)
		if why != "" {
			if missing == "" {
				missing = why
			}
			continue
		}
		for i, x := range xs {
			if i == len(best) {
				best = append(best, x)
			}
			best[i] = max(best[i], x)
		}
	}
	if len(best) > 0 {
		missing = ""
	}
	return best, missing
}

// Reached is the share of a load's connections that had their rate.
type Reached struct{ Point Point }

// Words implements [Figure].
func (r Reached) Words(s *Study) string {
	return "conforming connections, of those attempted: " + s.Cell(r.Point)
}

func (r Reached) value(from source) Value {
	xs, missing := from.runs(r.Point, Conforming)
	if missing != "" {
		return Value{Unknown: missing}
	}
	conforming := 0.
	for _, x := range xs {
		conforming += x
	}
	return from.share(conforming, float64(len(xs)*r.Point.Clients))
}

// Broken is the share of POSTs that a server lost, logged twice or otherwise got
// wrong, wrong replies included.
type Broken struct{ Point Point }

// Words implements [Figure].
func (b Broken) Words(s *Study) string { return "POSTs logged wrong, of all: " + s.Cell(b.Point) }

func (b Broken) value(from source) Value {
	bad, all, missing := from.posts(b.Point)
	switch {
	case missing != "":
		return Value{Unknown: missing}
	case all == 0:
		return Value{Unknown: "nothing was posted"}
	}
	return from.share(bad, all)
}

// Likened is a figure whose published counterpart is of other points: of other
// machines.
type Likened struct {
	Figure
	Theirs Figure
}

func (l Likened) value(from source) Value {
	if _, theirs := from.(tables); theirs {
		return l.Theirs.value(from)
	}
	return l.Figure.value(from)
}
