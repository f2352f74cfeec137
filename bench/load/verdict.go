package load

import (
	"fmt"

	"github.com/weighstone/weighstone/bench"
)

// Limits of what a client can do before its own figures are doubtful.
const (
	maxClientCPU  = 0.70
	maxWaited     = 0.60 // of the time, for a core: more than a server that shares the cores takes of them
	maxLittleOff  = 0.05
	littleEnough  = 100 // requests a client for Little's law to be held against it
	maxLagged     = 0.01
	goneAfter     = 10 * backoff // without a good reply before the end
	maxDropped    = 0.01
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
	if r.Stray > 0 {
		add(bench.RepliesWrong, "%s connections brought bytes that nobody had asked for", grouped(r.Stray))
	}
	if all := r.Good() + r.Bad(); bench.TooMany(r.Stale, all) {
		add(bench.Incomplete, "%s of %s requests were sent again: the server had closed their kept connections unannounced, and may have had them", grouped(r.Stale), grouped(all))
	}
	if r.Interrupted {
		add(bench.Incomplete, "interrupted with %d requests under way", r.Unfinished)
	}
	if r.Good() < minGoodOfRuns && !r.Interrupted {
		add(bench.Incomplete, "there was no good reply")
	}
	if r.Good() > 0 && r.Tally.Done == 0 && !r.Interrupted {
		add(bench.Incomplete, "no reply ended within the %v s measured", r.Elapsed.Seconds())
	}
	if f := &r.Tally.Faults; r.Good() > 0 && f.TooManyFailed(r.Good()) {
		add(bench.Incomplete, "%s of %s exchanges failed: %s", grouped(f.Failed()), grouped(r.Good()+r.Bad()), faultText(f, bench.Fault.Failed))
	}
	if t := r.Tally; t.Faults[bench.FaultRefused] > 0 && r.Good() > 0 && t.Last-t.LastGood > goneAfter {
		add(bench.Incomplete, "the server was gone from %.1f s on: no good reply, and connections refused", t.LastGood.Seconds())
	}
	if r.NoPort > 0 {
		add(bench.ClientBound, "%s", r.portsText())
	} else if n := r.Tally.Faults[bench.FaultLocal]; n > 0 {
		add(bench.ClientBound, "%d requests failed for want of ports, descriptors or memory here", n)
	}
	if cpu := r.ClientCPU(); cpu > maxClientCPU {
		add(bench.ClientBound, "the client used %.0f %% of the %s it was given", 100*cpu, cores(r.Config.Workers))
	} else if waited := r.ClientWaited(); waited > maxWaited || r.ClientBusy() > maxClientCPU {
		add(bench.ClientBound, "the client used %.0f %% of what it got of %s: it ran for %.0f %% of the time and waited to run for %.0f %%",
			100*r.ClientBusy(), cores(r.Config.Workers), 100*cpu, 100*waited)
	}
	if n := r.Tally.Lag.N; r.Config.Arrival.Open() && float64(r.Tally.Lagged) > maxLagged*float64(n) {
		add(bench.ClientBound, "the client sent %d of %d requests late by its own lag", r.Tally.Lagged, n)
	}
	if due := r.Tally.Lag.N + r.Dropped; float64(r.Dropped) > maxDropped*float64(due) {
		add(bench.ClientBound, "%d of %d requests that were due found no free connection and were never sent", r.Dropped, due)
	}
	if off, ok := r.littleOff(); ok && (off > maxLittleOff || off < -maxLittleOff) {
		add(bench.ClientBound, "the clients were being served %.0f %% of the time only", 100*(1+off))
	}
	return verdict, reasons
}

// portsText says why connections stalled for want of ports.
func (r *Result) portsText() string {
	s := fmt.Sprintf("%d connections found no free port: each of %d source addresses has %d", r.NoPort, r.Sources, r.Ports.Range)
	if r.Sources == 1 {
		s = fmt.Sprintf("%d connections found no free port: the one source address has %d", r.NoPort, r.Ports.Range)
	}
	if r.ClosedByClient > r.ClosedByServer {
		s += fmt.Sprintf(", and as the client closes first it keeps each for a minute (tcp_tw_reuse is %s)", r.Ports.Reuse)
	}
	return s + "; name more addresses with --source"
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
