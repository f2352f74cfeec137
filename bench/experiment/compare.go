package experiment

import (
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// evaluate makes the comparison of two cells, which have these verdicts, by
// the rounds that both have.
func (c *comparison) evaluate(verdictA, verdictB bench.Verdict) bench.Comparison {
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
		agrees, known := stat.Agrees(result.Ratio, c.published)
		faster := stat.SideOf(result.Ratio, 1) == stat.Above
		if known && c.usable(verdictA, faster) && c.usable(verdictB, !faster) {
			out.Agrees = &agrees
		}
	}
	return out
}

// usable says whether a cell with this verdict allows to say on which side of
// 1 the ratio lies; larger, whether the cell has the larger figure. What noise
// does is in the interval. A client that set the rate does not touch the CPU a
// request, and a rate that could have been higher still is the higher one.
func (c *comparison) usable(v bench.Verdict, larger bool) bool {
	switch v {
	case bench.Valid, bench.Noisy:
		return true
	case bench.ClientBound:
		return c.metric == claimCPU || larger
	}
	return false
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
