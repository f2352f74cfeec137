package load

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/tally"
)

// WriteText writes a result, or those of a ladder, for a terminal. The first
// line is the verdict.
func WriteText(w io.Writer, results ...*Result) error {
	var b bytes.Buffer
	if len(results) == 1 {
		writeOne(&b, results[0])
	} else {
		writeLadder(&b, results)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func verdictLine(v bench.Verdict, reasons []string) string {
	if len(reasons) == 0 {
		return string(v)
	}
	return string(v) + ": " + strings.Join(reasons, "; ")
}

// rows writes what has a label.
type rows struct{ *bytes.Buffer }

func (r rows) add(label, format string, args ...any) {
	fmt.Fprintf(r, "%-14s "+format+"\n", append([]any{label}, args...)...)
}

func writeOne(b *bytes.Buffer, r *Result) {
	fmt.Fprintf(b, "%s\n%s\n\n", verdictLine(r.Verdict()), r.offered())
	t, out := r.Tally, rows{b}
	out.add("requests", "%s good, %s bad in %.2f s", grouped(r.Good()), grouped(r.Bad()), r.Elapsed.Seconds())
	if over := r.overtime(); over >= overtimeTold {
		out.add("", "the last of them ended %.1f s after the window: a reply is waited for, up to %v", over.Seconds(), r.Config.Timeout)
	}
	out.add("rate", "%s", r.rateText())
	out.add("throughput", "%s Mbit/s (10^6 bits, heads included)", figure(float64(t.DoneBytes)*8/1e6/r.Elapsed.Seconds(), 2))
	out.add("latency ms", "%s", quantileText(&t.Latency))
	r.writeTimes(out)
	out.add("connect ms", "%s", quantileText(&t.Connect))
	r.writeConnections(out)
	out.add("Little's load", "%s", r.littleText())
	out.add("client CPU", "%s", r.cpuText())
	if m := r.Mix(); m != nil {
		out.add("mix", "chi-squared %.1f with %d degrees of freedom over %s draws, p %.3f; %.1f %% dynamic", m.ChiSquared, m.Freedom, grouped(m.Draws), m.P, 100*m.Dynamic)
	}
	if s := r.secondsText(); s != "" {
		out.add("each second", "%s", s)
	}
	out.add("statuses", "%s", statusText(t))
	if r.Bad() > 0 {
		out.add("errors", "%s", faultText(&t.Faults, anyFault))
		out.add("first error", "%s", r.Offence)
	}
}

// littleText is Little's load and what it can be at most: in an open loop any
// number, as requests that wait for a connection are part of it.
func (r *Result) littleText() string {
	if r.Config.Arrival.Open() {
		return figure(r.Little(), 2) + " under way or waiting for a connection"
	}
	return fmt.Sprintf("%s of %d", figure(r.Little(), 2), r.Config.Clients*r.Config.Pipeline)
}

// writeTimes writes what differs from the latency only when requests do not
// leave at once.
func (r *Result) writeTimes(out rows) {
	t := r.Tally
	if !r.Config.Arrival.Open() {
		return
	}
	out.add("", "from when a request was due; service time is from when the client began")
	out.add("service ms", "%s", quantileText(&t.Service))
	out.add("lag ms", "%s", quantileText(&t.Lag))
	out.add("late", "%s left more than %v late, %s of them by the client's own lag", grouped(t.Late), tally.LateAfter, grouped(t.Lagged))
	out.add("dropped", "%s were due and never sent: no connection came free", grouped(r.Dropped))
}

func (r *Result) writeConnections(out rows) {
	out.add("connections", "%s made; the server closed %s first, the client %s", grouped(r.Connections), grouped(r.ClosedByServer), grouped(r.ClosedByClient))
	if r.Stale > 0 {
		out.add("", "%s kept ones were found closed and their request sent again", grouped(r.Stale))
	}
	if r.Stray > 0 {
		out.add("", "%s were dropped, for bytes that nobody had asked for", grouped(r.Stray))
	}
	if r.Sources > 1 || r.NoPort > 0 {
		out.add("sources", "%s addresses of %s ports each; up to %s connections from one", grouped(uint64(r.Sources)), grouped(uint64(r.Ports.Range)), grouped(r.MostPerSource))
	}
	if r.Config.Idle > 0 {
		out.add("idle", "%d held open, of which the server closed %d", r.IdleOpened, r.IdleLost)
	}
}

// writeLadder writes a line for each step.
func writeLadder(b *bytes.Buffer, results []*Result) {
	verdict := bench.Valid
	for _, r := range results {
		v, _ := r.Verdict()
		verdict = verdict.Worse(v)
	}
	if len(results) == 0 {
		verdict = bench.Incomplete
	}
	fmt.Fprintf(b, "%s\n", verdict)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n\n%8s %10s %8s %10s %10s %10s %8s %6s  %s\n", ladderOffered(results), "clients", "rate /s", "bad", "p50 ms", "p99 ms", "max ms", "little", "CPU %", "verdict")
	for _, r := range results {
		t := r.Tally
		quantile := func(q float64) string {
			if v, ok := t.Latency.Quantile(q); ok {
				return millis(v)
			}
			return "-"
		}
		fmt.Fprintf(b, "%8d %10s %8s %10s %10s %10s %8s %6s  %s\n", r.Config.Clients, figure(r.Rate(), 1), grouped(r.Bad()),
			quantile(.5), quantile(.99), millis(t.Latency.Max), figure(r.Little(), 1), figure(100*r.ClientCPU(), 0), verdictLine(r.Verdict()))
	}
	for _, r := range results {
		if r.Bad() > 0 {
			fmt.Fprintf(b, "\n%d clients: %s\n  first: %s\n", r.Config.Clients, faultText(&r.Tally.Faults, anyFault), r.Offence)
		}
	}
}

func (r *Result) rateText() string {
	s := figure(r.Rate(), 1) + " /s"
	a := &r.Config.Arrival
	switch {
	case a.Open() && a.Over > 0:
		s += fmt.Sprintf(", asked for %s to %s /s over %v", figure(a.From, 1), figure(a.Rate, 1), a.Over)
	case a.Open():
		s += fmt.Sprintf(", asked for %s /s", figure(a.Rate, 1))
	}
	return s
}

// secondsText says between what the whole seconds of the run lay.
func (r *Result) secondsText() string {
	var low, high uint64
	var p99 time.Duration
	n := 0
	for _, s := range r.Seconds {
		if s.To-s.From < turnEach*9/10 {
			continue
		}
		rate := uint64(float64(s.Good)/(s.To-s.From).Seconds() + 0.5)
		if n == 0 {
			low = rate
		}
		low, high, p99 = min(low, rate), max(high, rate), max(p99, s.P99)
		n++
	}
	if n < 2 || high == 0 {
		return ""
	}
	return fmt.Sprintf("%s to %s good a second, p99 up to %s ms", grouped(low), grouped(high), millis(p99))
}

// ladderOffered says in one line what the server was offered in all of the
// results, of which there is at least one.
func ladderOffered(results []*Result) string {
	first := *results[0]
	if len(results) > 1 {
		first.Config.Clients = 0
	}
	return first.offered()
}

// offered says in one line what the server was offered.
func (r *Result) offered() string {
	c := &r.Config
	s := fmt.Sprintf("%s: %d clients", c.URL, c.Clients)
	if c.Clients == 0 {
		s = c.URL + ": a ladder of clients"
	}
	switch {
	case c.Keepalive && c.PerConn > 0:
		s += fmt.Sprintf(", %d requests a connection", c.PerConn)
	case c.Keepalive:
		s += ", kept connections"
	default:
		s += ", a connection for each request"
	}
	if c.Pipeline > 1 {
		s += fmt.Sprintf(", pipelines of %d", c.Pipeline)
	}
	if c.HTTP10 {
		s += ", HTTP/1.0"
	}
	if c.Arrival.Open() {
		s += fmt.Sprintf(", open loop, %s arrivals", &c.Arrival)
	} else {
		s += ", closed loop"
	}
	if c.Arrival.Think > 0 {
		s += fmt.Sprintf(" with %v of thought", c.Arrival.Think)
	}
	if c.ConnectAhead > 0 {
		s += fmt.Sprintf(", %d connections ahead", c.ConnectAhead)
	}
	if c.ReadRate > 0 {
		s += fmt.Sprintf(", reading %s bytes a second", grouped(uint64(c.ReadRate)))
	}
	if c.Warmup > 0 {
		s += fmt.Sprintf(", after %v of warm-up (%s requests)", c.Warmup, grouped(r.Tally.Warmup))
	}
	if len(r.Classes) > 1 {
		s += fmt.Sprintf(", %d kinds of request", len(r.Classes))
	}
	if r.Network != "" {
		s += ", over " + r.Network
	}
	return s
}

func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// waitTold is from which share of the time on it is worth telling that the
// client had to wait for its cores.
const waitTold = 0.05

func (r *Result) cpuText() string {
	used := r.CPUUser + r.CPUSystem
	s := fmt.Sprintf("%s %% of %s (user %.2f s, system %.2f s)", figure(100*r.ClientCPU(), 0), cores(r.Config.Workers), r.CPUUser.Seconds(), r.CPUSystem.Seconds())
	if waited := r.ClientWaited(); waited > waitTold {
		s += fmt.Sprintf(", waited for them %.0f %% of the time", 100*waited)
	}
	if n := r.Good() + r.Bad(); n > 0 {
		s += fmt.Sprintf(", %.1f us a request", float64(used.Microseconds())/float64(n))
	}
	return s
}

// quantileText lists the quantiles behind which there are enough samples. The
// maximum always stands.
func quantileText(t *tally.Times) string {
	if t.N == 0 {
		return "none"
	}
	var b strings.Builder
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}} {
		if v, ok := t.Quantile(q.at); ok {
			fmt.Fprintf(&b, "%s %s  ", q.name, millis(v))
		}
	}
	mean, _ := t.Mean()
	fmt.Fprintf(&b, "max %s  mean %s", millis(t.Max), millis(mean))
	if t.Over > 0 {
		fmt.Fprintf(&b, "  (%d above 60 s)", t.Over)
	}
	return b.String()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/1e6) }

func statusText(t *tally.Tally) string {
	var parts []string
	for status, n := range t.Status {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d: %s", status, grouped(n)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func anyFault(bench.Fault) bool { return true }

// faultText lists the faults that there were, of those that are told.
func faultText(f *bench.Faults, told func(bench.Fault) bool) string {
	var parts []string
	for i := bench.FaultRefused; i < bench.NumFaults; i++ {
		if f[i] > 0 && told(i) {
			parts = append(parts, fmt.Sprintf("%s %s", i, grouped(f[i])))
		}
	}
	return strings.Join(parts, ", ")
}

// figure writes a number, "-" for what could not be computed.
func figure(v float64, decimals int) string {
	if bench.Number(v) == nil {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// grouped writes n with a comma between each three digits.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
