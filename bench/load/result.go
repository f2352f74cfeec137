package load

import (
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/tally"
)

// A Result is what came of a run. It is plain data, read by report writers.
type Result struct {
	Config      Config // with its defaults filled in
	Start       time.Time
	Elapsed     time.Duration // of the measured window, the warm-up left out
	Interrupted bool
	Classes     []bench.Class
	Tally       *tally.Tally

	Connections    uint64 // made by the clients
	ClosedByServer uint64 // of them, closed by the server first
	ClosedByClient uint64
	Stale          uint64 // kept connections found closed, whose request was sent again; the warm-up left out
	Stray          uint64 // connections that brought bytes when nothing was asked, and were dropped
	Unfinished     uint64 // exchanges given up when the run was interrupted

	Network  string // "loopback", or which network the server was reached over
	Software string // the Server field of the first reply
	Kept     uint64 // complete replies after which the server left the connection open
	Sent     uint64 // bytes of requests, the warm-up included

	Dropped uint64 // requests that were due and never sent

	NoPort        uint64 // connections that found no free port
	Sources       int    // local addresses that connections came from
	MostPerSource uint64 // connections begun from one of them
	Ports         Ports

	IdleOpened, IdleLost int

	CPUUser, CPUSystem time.Duration // of the workers' threads
	CPUGiven           time.Duration // elapsed time of all workers together
	CPUWaited          time.Duration // of it, what they were ready to run and had no core
	Waits, Events      uint64        // calls of epoll_wait, and events they returned

	Offence *Offence // the first fault, nil when there was none

	Seconds  []Second // from the end of the warm-up on
	LogError error    // why the log is not complete; nil if it is or nobody wanted one
}

// Good is the number of good replies, Bad that of exchanges with a fault.
func (r *Result) Good() uint64 { return r.Tally.Faults[bench.FaultNone] }

// Bad is the number of exchanges with a fault.
func (r *Result) Bad() uint64 { return r.Tally.Faults.Total() }

// Rate is good replies per second in the measured window.
func (r *Result) Rate() float64 { return float64(r.Tally.Done) / r.Elapsed.Seconds() }

// overtimeTold is from when on the overtime of a run is worth a line.
const overtimeTold = 500 * time.Millisecond

// overtime is how long after the measured window the last exchange ended, 0
// for a run that ends with its last request.
func (r *Result) overtime() time.Duration {
	until := r.Tally.Config.Until
	if until == 0 {
		return 0
	}
	return max(0, r.Tally.Last-until)
}

// Little is Little's load factor: the response times of all good replies
// together, as far as they lie in the measured window, over its length. Near
// the number of clients when all are being served; never above it in a closed
// loop. In an open loop the wait for a connection is part of it.
func (r *Result) Little() float64 {
	return r.Tally.Served.Seconds() / r.Elapsed.Seconds()
}

// ClientCPU is the share of the workers' cores that was used, from 0 to 1.
func (r *Result) ClientCPU() float64 {
	return float64(r.CPUUser+r.CPUSystem) / float64(r.CPUGiven)
}

// ClientWaited is the share of the time in which the workers were ready to run
// and had no core, from 0 to 1.
func (r *Result) ClientWaited() float64 { return float64(r.CPUWaited) / float64(r.CPUGiven) }

// ClientBusy is the share that the workers used of what they got of their
// cores, from 0 to 1: the time they waited for one was not theirs. It is 1 for
// a client that was never idle, however little CPU it was left.
func (r *Result) ClientBusy() float64 {
	used := r.CPUUser + r.CPUSystem
	return min(1, float64(used)/float64(max(r.CPUGiven-r.CPUWaited, used)))
}

// Figures are the result in the terms of a document. What only the server's
// side knows is nil.
func (r *Result) Figures() bench.Figures[float64] {
	t := r.Tally
	elapsed := r.Elapsed.Seconds()
	connections := float64(r.Connections)
	if r.Config.Warmup > 0 {
		connections = float64(t.Connect.N)
	}
	f := bench.Figures[float64]{
		RequestsPerS:     bench.Number(r.Rate()),
		ConnectionsPerS:  bench.Number(connections / elapsed),
		ThroughputMbitS:  bench.Number(float64(t.DoneBytes) * 8 / 1e6 / elapsed),
		LatencyMS:        quantiles(&t.Latency),
		ConnectMS:        quantiles(&t.Connect),
		ErrorsPerS:       bench.Number(float64(r.Bad()) / elapsed),
		Errors:           t.Faults,
		Little:           bench.Number(r.Little()),
		ClientCPUPercent: bench.Number(100 * r.ClientCPU()),
		EventsPerWait:    bench.Number(float64(r.Events) / float64(r.Waits)),
	}
	f.Errors[bench.FaultNone] = 0
	return f
}

func quantiles(t *tally.Times) bench.Quantiles[float64] {
	of := func(d time.Duration, ok bool) *float64 {
		if !ok {
			return nil
		}
		return bench.Number(float64(d) / 1e6)
	}
	return bench.Quantiles[float64]{
		P50: of(t.Quantile(.5)), P90: of(t.Quantile(.9)), P99: of(t.Quantile(.99)), P999: of(t.Quantile(.999)),
		Max: of(t.Max, t.N > 0), Mean: of(t.Mean()),
	}
}

// Mix compares what was asked with the plan's weights; nil for a single URL.
func (r *Result) Mix() *bench.Mix { return plan.ChiSquared(r.Classes, r.Tally.Classes) }

// Client is what the generator alone knows, in the terms of a document.
func (r *Result) Client() *bench.Client {
	t := r.Tally
	c := &bench.Client{
		ServiceMS: quantiles(&t.Service), LagMS: quantiles(&t.Lag),
		Late: t.Late, Lagged: t.Lagged, Dropped: r.Dropped, Over60S: t.Latency.Over,
		Connections: r.Connections, ClosedByServer: r.ClosedByServer, ClosedByClient: r.ClosedByClient,
		Stale: r.Stale, Stray: r.Stray, IdleOpened: r.IdleOpened, IdleLost: r.IdleLost,
		Sources: r.Sources, Ports: r.Ports.Range, MostPerSource: r.MostPerSource, NoPort: r.NoPort,
		Workers: r.Config.Workers, CPUUserS: r.CPUUser.Seconds(), CPUSystemS: r.CPUSystem.Seconds(),
		CPUWaitedS: r.CPUWaited.Seconds(), BusyPercent: bench.Number(100 * r.ClientBusy()),
		Interrupted: r.Interrupted, Mix: r.Mix(), Seconds: []bench.Second{}, Steps: r.steps(),
		ConnectTimeMS: timeMoments(&t.Connect), ReplyTimeMS: timeMoments(&t.Latency),
		ReplyBytes: sizeMoments(&t.Reply), BodyBytes: sizeMoments(&t.Content),
		Pages: r.pages(), Spectrum: spectrum(&t.Latency),
	}
	if n := r.Good() + r.Bad(); n > 0 {
		c.CPUMicros = float64((r.CPUUser + r.CPUSystem).Microseconds()) / float64(n)
	}
	if r.Offence != nil {
		c.FirstError, c.Excerpt = r.Offence.String(), strings.ToValidUTF8(string(r.Offence.Excerpt), "\uFFFD")
	}
	for _, s := range r.Seconds {
		out := bench.Second{AtS: s.From.Seconds(), ForS: (s.To - s.From).Seconds(), Good: s.Good, Faults: s.Faults}
		if s.Good > 0 {
			out.P50, out.P99, out.Max = inMillis(s.P50), inMillis(s.P99), inMillis(s.Max)
		}
		c.Seconds = append(c.Seconds, out)
	}
	return c
}

// maxSteps is how long the series of steps may be that a document holds.
const maxSteps = int(time.Minute / tally.SeriesStep)

// steps are the whole steps of the measured window.
func (r *Result) steps() []uint32 {
	from := int((r.Config.Warmup + tally.SeriesStep - 1) / tally.SeriesStep)
	to := min(int((r.Config.Warmup+r.Elapsed)/tally.SeriesStep), len(r.Tally.Series))
	if to <= from || to-from > maxSteps {
		return nil
	}
	return r.Tally.Series[from:to]
}

func inMillis(d time.Duration) *float64 { return bench.Number(float64(d) / 1e6) }
