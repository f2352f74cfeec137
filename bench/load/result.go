package load

import (
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench"
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
	Stale          uint64 // kept connections found closed, whose request was sent again
	Stray          uint64 // connections dropped for bytes that came when nothing was asked
	Unfinished     uint64 // exchanges given up when the run was interrupted

	Dropped uint64 // requests that were due and never sent

	NoPort        uint64 // connections that found no free port
	Sources       int    // local addresses that connections came from
	MostPerSource uint64 // connections begun from one of them
	Ports         Ports

	IdleOpened, IdleLost int

	CPUUser, CPUSystem time.Duration // of the workers' threads
	CPUGiven           time.Duration // elapsed time of all workers together
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

// Little is Little's load factor: the response times of all good replies
// together, over the elapsed time. Near the number of clients when all are
// being served.
func (r *Result) Little() float64 {
	return r.Tally.Latency.Sum.Seconds() / r.Elapsed.Seconds()
}

// ClientCPU is the share of the workers' cores that was used, from 0 to 1.
func (r *Result) ClientCPU() float64 {
	return float64(r.CPUUser+r.CPUSystem) / float64(r.CPUGiven)
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

// Limits of what a client can do before its own figures are doubtful.
const (
	maxClientCPU  = 0.70
	maxLittleOff  = 0.05
	littleEnough  = 100 // requests a client for Little's law to be held against it
	minGoodOfRuns = 1
)

// Verdict says what the result can be used for, and why not more.
func (r *Result) Verdict() (bench.Verdict, []string) {
	verdict, reasons := bench.Valid, []string{}
	add := func(v bench.Verdict, format string, args ...any) {
		verdict = verdict.Worse(v)
		reasons = append(reasons, fmt.Sprintf(format, args...))
	}
	if n := r.Tally.Faults.Wrong(); n > 0 {
		add(bench.RepliesWrong, "%d replies were wrong", n)
	}
	if r.Interrupted {
		add(bench.Incomplete, "interrupted with %d requests under way", r.Unfinished)
	}
	if r.Good() < minGoodOfRuns && !r.Interrupted {
		add(bench.Incomplete, "there was no good reply")
	}
	if n := r.Tally.Faults[bench.FaultLocal]; n > 0 {
		add(bench.ClientBound, "%d requests failed for want of ports, descriptors or memory here", n)
	}
	if cpu := r.ClientCPU(); cpu > maxClientCPU {
		add(bench.ClientBound, "the client used %.0f %% of the %d cores it was given", 100*cpu, r.Config.Workers)
	}
	if off, ok := r.littleOff(); ok && (off > maxLittleOff || off < -maxLittleOff) {
		add(bench.ClientBound, "the clients were being served %.0f %% of the time only", 100*(1+off))
	}
	return verdict, reasons
}

// littleOff is how far Little's law is off in a closed loop without think
// time, as a share of the clients; false where the law says nothing.
func (r *Result) littleOff() (float64, bool) {
	c := &r.Config
	places := float64(c.Clients * c.Pipeline)
	if c.Arrival.Open() || c.Arrival.Think > 0 || r.Bad() > 0 || float64(r.Good()) < littleEnough*places {
		return 0, false
	}
	return r.Little()/places - 1, true
}
