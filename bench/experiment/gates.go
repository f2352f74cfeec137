package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// judgeClient looks whether the client could do what was asked of it.
func (c *cell) judgeClient(j *judgement, m *bench.Figures[bench.Metric]) {
	if m.ClientCPUPercent != nil && m.ClientCPUPercent.Median != nil && *m.ClientCPUPercent.Median > busyClient {
		j.add(bench.ClientBound, "the client used %.0f %% of the CPU it was given, over %d %%: the rate is at least what is shown",
			*m.ClientCPUPercent.Median, busyClient)
	} else if busy, ok := c.clientBusy(); ok && busy > busyClient {
		j.add(bench.ClientBound, "the client used %.0f %% of what others left it of its core, over %d %%: the rate is at least what is shown",
			busy, busyClient)
	}
	c.judgeCeiling(j, m)
	c.judgeSchedule(j, m)
	if off, ok := c.littleOff(m); ok && math.Abs(off) > littleOff {
		j.add(bench.ClientBound, "Little's law is off by %.0f %%: %d clients, but %.1f requests under way on average",
			100*math.Abs(off), c.load.clients, *m.Little.Median)
	}
}

// clientBusy is how busy the client was in what it got of its cores, in the
// median of the runs in percent; false where nobody knows.
func (c *cell) clientBusy() (float64, bool) {
	var busy []float64
	for i := range c.runs {
		if r := &c.runs[i]; r.counts() && r.Client != nil && r.Client.BusyPercent != nil {
			busy = append(busy, *r.Client.BusyPercent)
		}
	}
	if len(busy) == 0 {
		return 0, false
	}
	return stat.Median(busy).Median, true
}

func (c *cell) judgeCeiling(j *judgement, m *bench.Figures[bench.Metric]) {
	if c.ceiling == nil || c.load.open() || m.RequestsPerS == nil || m.RequestsPerS.Median == nil {
		return
	}
	top := summarise(c.ceiling.plain()).RequestsPerS
	if top == nil || top.Median == nil {
		return
	}
	if *top.Median < headroom**m.RequestsPerS.Median {
		j.add(bench.ClientBound, "the client reaches %.0f/s against a server that does next to nothing, less than twice the %.0f/s here",
			*top.Median, *m.RequestsPerS.Median)
	}
}

// judgeConnections looks for what went wrong between replies; all is the number
// of exchanges.
func (c *cell) judgeConnections(j *judgement, all uint64) {
	var stale, stray uint64
	for i := range c.runs {
		if client := c.runs[i].Client; client != nil {
			stale += client.Stale
			stray += client.Stray
		}
	}
	if stray > 0 {
		j.add(bench.RepliesWrong, "%d connections brought bytes that nobody had asked for", stray)
	}
	if bench.TooMany(stale, all) {
		j.add(bench.Incomplete, "%d of %d requests were sent again: the server had closed their kept connections unannounced, and may have had them", stale, all)
	}
}

// judgeSchedule looks whether an open loop was kept to.
func (c *cell) judgeSchedule(j *judgement, m *bench.Figures[bench.Metric]) {
	if !c.load.open() {
		return
	}
	var all, lagged, dropped uint64
	for i := range c.runs {
		if r := &c.runs[i]; r.Client != nil && r.counts() {
			all += r.Requests + r.Errors.Total()
			lagged += r.Client.Lagged
			dropped += r.Client.Dropped
		}
	}
	if float64(lagged) > lagging*float64(all) {
		j.add(bench.ClientBound, "schedule lag: the client sent %d of %d requests late by its own fault", lagged, all)
	}
	if float64(dropped) > lagging*float64(all+dropped) {
		j.add(bench.ClientBound, "%d of %d requests that were due found no free connection and were never sent", dropped, all+dropped)
	}
	asked := c.load.arrival.Rate
	if came := m.RequestsPerS; came != nil && came.Median != nil && *came.Median < (1-littleOff)*asked {
		j.add(bench.Noisy, "%.0f/s were offered and %.0f/s answered: this is not the same rate", asked, *came.Median)
	}
}

// littleOff is how far Little's law is off, as a share of the clients; false
// where it says nothing.
func (c *cell) littleOff(m *bench.Figures[bench.Metric]) (float64, bool) {
	if c.load.open() || m.Little == nil || m.Little.Median == nil || m.Errors.Total() > 0 {
		return 0, false
	}
	for i := range c.runs {
		if r := &c.runs[i]; r.counts() && r.Requests < uint64(littleEnough*c.load.clients) {
			return 0, false
		}
	}
	return *m.Little.Median/float64(c.load.clients) - 1, true
}

// judgeMachine looks for what took the machine away meanwhile.
func (c *cell) judgeMachine(j *judgement) {
	var steal, stopped []float64
	hot, unsettled, counted := 0, 0, 0
	for i := range c.runs {
		r := &c.runs[i]
		if !r.counts() {
			continue
		}
		counted++
		steal, stopped = append(steal, r.StealPercent), append(stopped, r.ThrottledPercent)
		if r.hot {
			hot++
		}
		if r.unsettled {
			unsettled++
		}
	}
	if counted == 0 {
		return
	}
	if s := stat.Median(steal).Median; s > stolen {
		j.add(bench.Noisy, "steal time: the hypervisor took %.1f %% of the cores", s)
	}
	if s := slices.Max(stopped); s > throttled {
		j.add(bench.Noisy, "throttling: a limit on CPU stopped a run for %.1f %% of its time", s)
	}
	if hot > 0 {
		j.add(bench.Noisy, "throttling: a processor slowed down for heat in %d runs", hot)
	}
	if 2*unsettled > counted {
		j.add(bench.Noisy, "the rate had not settled at the end of %d of %d runs", unsettled, counted)
	}
}

// judgeDrift looks for a trend over the repetitions.
func (c *cell) judgeDrift(j *judgement) {
	var xs []float64
	for i := range c.runs {
		if v, ok := c.claims.of(&c.runs[i].Figures); ok && c.runs[i].counts() {
			xs = append(xs, v)
		}
	}
	if t := stat.TrendOf(xs); t.P < trending && math.Abs(t.Change) > drifted {
		j.add(bench.Noisy, "drift: %s went by %+.0f %% from the first to the last run (p = %.4f)", c.claims, 100*t.Change, t.P)
	}
}

// judgeNoise looks at the same server run twice.
func judgeNoise(doc *bench.Document) {
	for _, n := range doc.Noise {
		if n.Lo == nil || n.Hi == nil || n.Spread == nil {
			continue
		}
		if *n.Lo > 1 || *n.Hi < 1 || *n.Spread > noisyTwins {
			doc.Verdict = doc.Verdict.Worse(bench.Noisy)
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("the same server twice (%s) differs in %s by a factor of %.2f to %.2f", n.Subject, n.Metric, *n.Lo, *n.Hi))
		}
	}
}
