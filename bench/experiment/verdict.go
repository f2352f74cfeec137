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
		if c.runs[i].Error != "" {
			j.add(bench.Incomplete, "a run failed: %s", c.runs[i].Error)
		} else {
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
	if c.claims == claimRate && c.program == nil {
		judgeCapacity(&j, m, others.server)
	}
	if c.claims == claimCPU && m.ServerCPUMicros == nil && made > 0 {
		j.add(bench.Valid, "the server's CPU use is not known: it was not started here")
	}
	judgeSpread(&j, c.claims, m)
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
	server, client := m.ServerCPUPercent, m.ClientCPUPercent
	switch {
	case server == nil || server.Median == nil:
		if client != nil && client.Median != nil && *client.Median >= busyClient {
			j.add(bench.ClientBound, "the client's core was %.0f %% busy, and nobody knows how busy the server's was", *client.Median)
		}
	case *server.Median+others >= busyServer:
	case client != nil && client.Median != nil && *client.Median >= busyClient:
		j.add(bench.ClientBound, "the client's core was %.0f %% busy and the server's %.0f %%: the rate is at least what is shown",
			*client.Median, *server.Median)
	default:
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
