package experiment

import (
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// evaluate makes the comparison of two cells by the rounds that both have.
// usable says whether both have a verdict that allows a conclusion.
func (c *comparison) evaluate(usable bool) bench.Comparison {
	a, b := pairs(c.a, c.b, c.metric)
	result := stat.ComparePairs(a, b)
	out := bench.Comparison{
		Name: c.name, A: c.a.name, B: c.b.name, Metric: string(c.metric),
		Ratio: bench.Number(result.Ratio.Median), Lo: bench.Number(result.Ratio.Lo), Hi: bench.Number(result.Ratio.Hi),
		Source: c.source,
	}
	if result.Ratio.Bounded() { // exp(-Inf) is 0: a number, but no bound
		out.P = bench.Number(result.P)
	} else {
		out.Lo, out.Hi = nil, nil
	}
	if c.published != 0 {
		out.Published = bench.Number(c.published)
		if agrees, known := stat.Agrees(result.Ratio, c.published); known && usable && result.Ratio.Bounded() {
			out.Agrees = &agrees
		}
	}
	return out
}

// pairs returns the values of a metric of two cells, round by round.
func pairs(a, b *cell, m metric) (as, bs []float64) {
	for i := range a.runs {
		for k := range b.runs {
			if a.runs[i].round != b.runs[k].round {
				continue
			}
			va, okA := m.of(&a.runs[i].Figures)
			vb, okB := m.of(&b.runs[k].Figures)
			if okA && okB {
				as, bs = append(as, va), append(bs, vb)
			}
		}
	}
	return as, bs
}
