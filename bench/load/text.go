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

// WriteText writes the result for a terminal. The first line is the verdict.
func WriteText(w io.Writer, r *Result) error {
	var b bytes.Buffer
	verdict, reasons := r.Verdict()
	fmt.Fprintf(&b, "%s", verdict)
	if len(reasons) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(reasons, "; "))
	}
	fmt.Fprintf(&b, "\n%s\n\n", r.offered())
	t := r.Tally
	row := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s "+format+"\n", append([]any{label}, args...)...)
	}
	row("requests", "%s good, %s bad in %.2f s", grouped(r.Good()), grouped(r.Bad()), r.Elapsed.Seconds())
	row("rate", "%s /s", figure(r.Rate(), 1))
	row("throughput", "%s Mbit/s (10^6 bits, heads included)", figure(float64(t.DoneBytes)*8/1e6/r.Elapsed.Seconds(), 2))
	row("latency ms", "%s", quantileText(&t.Latency))
	if r.Config.Arrival.Open() {
		row("service ms", "%s", quantileText(&t.Service))
		row("late", "%s requests left more than %v late", grouped(t.Late), tally.LateAfter)
	}
	row("connect ms", "%s", quantileText(&t.Connect))
	row("connections", "%s made; the server closed %s first, the client %s", grouped(r.Connections), grouped(r.ClosedByServer), grouped(r.ClosedByClient))
	if r.Stale > 0 {
		row("", "%s kept ones were found closed and their request sent again", grouped(r.Stale))
	}
	if r.Stray > 0 {
		row("", "%s were dropped, for bytes that nobody had asked for", grouped(r.Stray))
	}
	if r.Config.Idle > 0 {
		row("idle", "%d held open, of which the server closed %d", r.IdleOpened, r.IdleLost)
	}
	row("Little's load", "%s of %d", figure(r.Little(), 2), r.Config.Clients*r.Config.Pipeline)
	row("client CPU", "%s", r.cpuText())
	row("statuses", "%s", statusText(t))
	if r.Bad() > 0 {
		row("errors", "%s", faultText(&t.Faults))
		row("first error", "%s", r.Offence)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// offered says in one line what the server was offered.
func (r *Result) offered() string {
	c := &r.Config
	s := fmt.Sprintf("%s: %d clients", c.URL, c.Clients)
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
	if !c.Arrival.Open() {
		s += ", closed loop"
	}
	if c.Arrival.Think > 0 {
		s += fmt.Sprintf(" with %v of thought", c.Arrival.Think)
	}
	if c.Warmup > 0 {
		s += fmt.Sprintf(", after %v of warm-up (%s requests)", c.Warmup, grouped(r.Tally.Warmup))
	}
	if len(r.Classes) > 1 {
		s += fmt.Sprintf(", %d kinds of request", len(r.Classes))
	}
	return s
}

func (r *Result) cpuText() string {
	used := r.CPUUser + r.CPUSystem
	s := fmt.Sprintf("%s %% of %d cores (user %.2f s, system %.2f s)", figure(100*r.ClientCPU(), 0), r.Config.Workers, r.CPUUser.Seconds(), r.CPUSystem.Seconds())
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

func faultText(f *bench.Faults) string {
	var parts []string
	for i := bench.FaultRefused; i < bench.NumFaults; i++ {
		if f[i] > 0 {
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
