package experiment

import (
	"fmt"

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
	c.judgeConnections(&j, good+m.Errors.Total())
	others := c.crowding()
	if others.server > crowded || others.client > crowded {
		j.add(bench.Noisy, "others took %.0f %% of the server's core and %.0f %% of the client's", others.server, others.client)
	}
	c.judgeMachine(&j)
	switch {
	case c.style != nil:
		c.judgeStyle(&j)
	case c.program == nil:
		c.judgeClient(&j, m)
		if c.claims == claimRate {
			judgeCapacity(&j, m, others.server)
		}
	}
	if c.claims == claimCPU && m.ServerCPUMicros == nil && made > 0 {
		j.add(bench.Valid, "the server's CPU use is not known: it was not started here, or does not wait for its programs")
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
		case c.load.limited && i.Failed():
			j.add(bench.Valid, "%d of %d exchanges had the fault %q, which is what this server is here for", n, n+good, i)
		case faults.TooManyFailed(good):
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
