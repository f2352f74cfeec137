package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// The bounds of the verdicts.
const (
	// busyServer is how busy the server's core must be, in percent, before a
	// rate is called what the server can do.
	busyServer = 95
	// busyClient is how busy the client's core may be, in percent, before it
	// is suspected of setting the rate.
	busyClient = 70
	// noisySpread is how wide the interval of a cell's own metric may be,
	// relative to its median.
	noisySpread = 0.5
	// crowded is how much of a core others may take, in percent.
	crowded = 10
	// stolen and throttled are how much of the time the hypervisor, or a limit
	// on CPU, may take away, in percent.
	stolen    = 2
	throttled = 1
	// lagging is the share of requests that the client may send late by its
	// own lag, or not at all.
	lagging = 0.01
	// littleOff is how far Little's law may be off in a closed loop, and
	// littleEnough how many requests a client of a run it takes to say so: a
	// run's edges cut off one.
	littleOff    = 0.05
	littleEnough = 100
	// headroom is how many times a cell's rate the client must reach against a
	// server that does next to nothing.
	headroom = 2
	// trending is how unlikely a trend must be by chance, and drifted how
	// large, to be called a drift.
	trending = 0.01
	drifted  = 0.05
	// noisyTwins is by how much the same server twice may differ.
	noisyTwins = 1.2
	// failedShare is how many of the exchanges may fail without making the
	// cell incomplete.
	failedShare = 0.001
)

// A judgement is a verdict with its reasons.
type judgement struct {
	verdict bench.Verdict
	reasons []string
}

func (j *judgement) add(v bench.Verdict, format string, args ...any) {
	j.verdict = j.verdict.Worse(v)
	j.reasons = append(j.reasons, fmt.Sprintf(format, args...))
}

// judge says what a cell with these runs can be used for; want is how many
// runs it should have.
func (c *cell) judge(m *bench.Figures[bench.Metric], want int) judgement {
	j := judgement{verdict: bench.Valid}
	var good uint64
	made := 0
	for i := range c.runs {
		good += c.runs[i].Requests
		switch {
		case c.runs[i].Error != "":
			j.add(bench.Incomplete, "a run failed: %s", c.runs[i].Error)
		case c.runs[i].Discarded == "":
			made++
		}
	}
	if made < want {
		j.add(bench.Incomplete, "%d of %d runs were made", made, want)
	}
	c.judgeFaults(&j, &m.Errors, good)
	others := c.crowding()
	if others.server > crowded || others.client > crowded {
		j.add(bench.Noisy, "others took %.0f %% of the server's core and %.0f %% of the client's", others.server, others.client)
	}
	c.judgeMachine(&j)
	if c.program == nil {
		c.judgeClient(&j, m)
		if c.claims == claimRate {
			judgeCapacity(&j, m, others.server)
		}
	}
	if c.claims == claimCPU && m.ServerCPUMicros == nil && made > 0 {
		j.add(bench.Valid, "the server's CPU use is not known: it was not started here")
	}
	judgeSpread(&j, c.claims, m)
	c.judgeDrift(&j)
	j.reasons = append(j.reasons, c.remarks...)
	return j
}

func (c *cell) judgeFaults(j *judgement, faults *bench.Faults, good uint64) {
	for i := bench.FaultRefused; i < bench.NumFaults; i++ {
		n := faults[i]
		if n == 0 {
			continue
		}
		switch {
		case i.Wrong():
			j.add(bench.RepliesWrong, "%d replies had the fault %q", n, i)
		case i == bench.FaultLocal:
			j.add(bench.ClientBound, "%d requests failed for the client's own want of ports, descriptors or memory", n)
		case float64(n) > failedShare*float64(n+good):
			j.add(bench.Incomplete, "%d of %d exchanges had the fault %q", n, n+good, i)
		default:
			j.add(bench.Valid, "%d of %d exchanges had the fault %q", n, n+good, i)
		}
	}
}

// crowding is the median of the runs'.
func (c *cell) crowding() crowding {
	var server, client []float64
	for i := range c.runs {
		server, client = append(server, c.runs[i].crowding.server), append(client, c.runs[i].crowding.client)
	}
	if len(server) == 0 {
		return crowding{}
	}
	return crowding{stat.Median(server).Median, stat.Median(client).Median}
}

// judgeCapacity looks whether the rate is what the server can do with what
// others left it of its core.
func judgeCapacity(j *judgement, m *bench.Figures[bench.Metric], others float64) {
	server := m.ServerCPUPercent
	switch {
	case server == nil || server.Median == nil:
		j.add(bench.Valid, "it is not known how busy the server's core was, so the rate may not be all it can do")
	case *server.Median+others < busyServer:
		j.add(bench.ClientBound, "the server's core was %.0f %% busy, under %d %%: the rate is not all it can do", *server.Median, busyServer)
	}
}

// judgeClient looks whether the client could do what was asked of it.
func (c *cell) judgeClient(j *judgement, m *bench.Figures[bench.Metric]) {
	if m.ClientCPUPercent != nil && m.ClientCPUPercent.Median != nil && *m.ClientCPUPercent.Median > busyClient {
		j.add(bench.ClientBound, "the client used %.0f %% of the CPU it was given, over %d %%: the rate is at least what is shown",
			*m.ClientCPUPercent.Median, busyClient)
	}
	c.judgeCeiling(j, m)
	c.judgeSchedule(j, m)
	if off, ok := c.littleOff(m); ok && math.Abs(off) > littleOff {
		j.add(bench.ClientBound, "Little's law is off by %.0f %%: %d clients, but %.1f requests under way on average",
			100*math.Abs(off), c.load.clients, *m.Little.Median)
	}
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

func judgeSpread(j *judgement, claims metric, m *bench.Figures[bench.Metric]) {
	v := m.RequestsPerS
	if claims == claimCPU {
		v = m.ServerCPUMicros
	}
	if v == nil || v.Median == nil || v.Lo == nil || v.Hi == nil || *v.Median == 0 {
		return
	}
	if spread := (*v.Hi - *v.Lo) / *v.Median; spread > noisySpread {
		j.add(bench.Noisy, "the interval of %s is %.0f %% of the median wide", claims, 100*spread)
	}
}
