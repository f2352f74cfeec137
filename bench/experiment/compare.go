package experiment

import (
	"fmt"
	"math"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// evaluate makes the comparison of two cells, which have these verdicts, by
// the rounds that both have. spread is the factor by which the same server
// twice differed in the metric, 1 when nobody knows.
func (c *comparison) evaluate(verdictA, verdictB bench.Verdict, spread float64) bench.Comparison {
	result := stat.ComparePairs(pairs(c.a, c.b, c.metric))
	out := bench.Comparison{
		Name: c.name, A: c.a.name, B: c.b.name, Metric: string(c.metric),
		Source: c.source, How: "pairs", At: c.at,
	}
	state(&out, result, spread)
	c.addEvents(&out)
	faster := stat.SideOf(result.Ratio, 1) == stat.Above
	fit := c.usable(verdictA, faster) && c.usable(verdictB, !faster)
	if out.Claimed != nil && *out.Claimed && !fit {
		out.Claimed = nil
		out.Note = "not claimed: " + c.unusable(verdictA, verdictB, faster)
	}
	if c.published != 0 {
		out.Published = bench.Number(c.published)
		if agrees, known := stat.Agrees(result.Ratio, c.published); known && fit {
			out.Agrees = &agrees
		}
	}
	return out
}

// state puts a result into a comparison and says whether it shows a
// difference.
func state(out *bench.Comparison, result stat.Comparison, spread float64) {
	out.Ratio = bench.Number(result.Ratio.Median)
	if !result.Ratio.Bounded() { // exp(-Inf) is 0: a number, but no bound
		return
	}
	out.Lo, out.Hi, out.P = bench.Number(result.Ratio.Lo), bench.Number(result.Ratio.Hi), bench.Number(result.P)
	claimed := stat.SideOf(result.Ratio, 1) != stat.Unclear
	if claimed && math.Max(result.Ratio.Median, 1/result.Ratio.Median) <= spread {
		claimed = false
		out.Note = fmt.Sprintf("the same server twice differed by up to a factor of %.3f", spread)
	}
	out.Claimed = &claimed
}

// addEvents puts the events per wait beside a comparison of CPU times.
func (c *comparison) addEvents(out *bench.Comparison) {
	if c.metric != claimCPU || c.a.subject == nil || c.b.subject == nil {
		return
	}
	of := func(c *cell) (server, client *float64) {
		runs := c.plain()
		if s := summariseServer(runs); s != nil && s.EventsPerWait != nil {
			server = s.EventsPerWait.Median
		}
		if m := summarise(runs).EventsPerWait; m != nil {
			client = m.Median
		}
		return server, client
	}
	serverA, clientA := of(c.a)
	serverB, clientB := of(c.b)
	out.EventsA, out.EventsB, out.EventsOf = serverA, serverB, "server"
	switch {
	case serverA != nil && serverB != nil:
	case c.a.load.open(): // there the client's waits are for its own clock
		out.EventsOf = ""
	default:
		out.EventsA, out.EventsB, out.EventsOf = clientA, clientB, "client"
	}
}

// unusable says which cell it is because of which nothing is claimed.
func (c *comparison) unusable(verdictA, verdictB bench.Verdict, faster bool) string {
	name, verdict := c.a.name, verdictA
	if c.usable(verdictA, faster) {
		name, verdict = c.b.name, verdictB
	}
	return fmt.Sprintf("%s is %s", name, verdict)
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
			if a.runs[i].round != b.runs[k].round || !a.runs[i].counts() || !b.runs[k].counts() {
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

// counts says whether a run is among those that the metrics summarise.
func (r *roundRun) counts() bool { return r.Discarded == "" && r.Error == "" }
