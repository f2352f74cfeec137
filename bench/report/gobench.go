package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/weighstone/weighstone/bench"
)

// A goUnit is a figure in the units of Go's benchmarks.
type goUnit struct {
	figure, unit string
	factor       float64
	better       string // what is better; empty where neither is
}

// goUnits are the figures that are written. Times are in ns, which benchstat
// knows how to scale.
var goUnits = []goUnit{
	{"requests_per_s", "req/s", 1, "higher"},
	{"throughput_mbit_s", "bit/s", 1e6, "higher"},
	{"latency_ms.mean", "mean-ns", 1e6, "lower"},
	{"latency_ms.p50", "p50-ns", 1e6, "lower"},
	{"latency_ms.p90", "p90-ns", 1e6, "lower"},
	{"latency_ms.p99", "p99-ns", 1e6, "lower"},
	{"latency_ms.p999", "p99.9-ns", 1e6, "lower"},
	{"latency_ms.max", "max-ns", 1e6, "lower"},
	{"server_cpu_us_per_request", "server-cpu-ns/req", 1e3, "lower"},
	{"server_cpu_percent", "server-cpu-%", 1, ""},
	{"client_cpu_percent", "client-cpu-%", 1, ""},
	{"errors_per_s", "errors/s", 1, "lower"},
}

// GoBench writes the document in Go's benchmark format, for benchstat and its
// kin: a line for each run that counts, so that they can make statistics of
// their own. Verdicts are in configuration lines, which are part of every
// result.
// https://go.dev/design/14313-benchmark-format
func GoBench(w io.Writer, d *bench.Document) error {
	var b bytes.Buffer
	config := func(key, value string) {
		if value = oneLine(value); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	e := &d.Environment
	config("kernel", e.Kernel)
	config("cpu", e.CPU)
	if e.Cores > 0 {
		config("cores", strconv.Itoa(e.Cores))
	}
	config("go", e.Go)
	config("build", e.Build)
	config("fixtures", e.Fixtures)
	config("network", e.Facts["network"])
	for _, u := range goUnits {
		if u.better != "" {
			fmt.Fprintf(&b, "Unit %s better=%s\n", u.unit, u.better)
		}
	}
	last := ""
	for i := range d.Cells {
		c := &d.Cells[i]
		if v := string(c.Verdict); v != last {
			b.WriteByte('\n')
			config("verdict", v)
			last = v
		}
		for k := range c.Runs {
			goLine(&b, c, &c.Runs[k])
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the result in Go's benchmark format: %w", err)
	}
	return nil
}

// goLine writes a run. One that does not count, or in which nothing was
// served, has no line: the format could not say so.
func goLine(b *bytes.Buffer, c *bench.Cell, r *bench.Run) {
	if r.Discarded != "" || r.Error != "" || r.Requests == 0 {
		return
	}
	known := map[string]*float64{}
	for _, f := range figures(&r.Figures) {
		known[f.name] = f.value
	}
	fmt.Fprintf(b, "BenchmarkLoad%s %d", goName(c), r.Requests)
	for _, u := range goUnits {
		if v := known[u.figure]; v != nil {
			fmt.Fprintf(b, " %s %s", strconv.FormatFloat(*v*u.factor, 'g', 6, 64), u.unit)
		}
	}
	b.WriteByte('\n')
}

// goName is what tells a cell from others, as parts of a benchmark's name. A
// name must not end in a hyphen and digits, which would be taken for
// GOMAXPROCS; so the number of clients is last.
func goName(c *bench.Cell) string {
	var b strings.Builder
	part := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "/%s=%s", key, goWord(value))
		}
	}
	part("subject", strings.TrimPrefix(c.Variant, "http://"))
	part("handler", c.Handler)
	if c.Load.Plan != nil {
		part("plan", *c.Load.Plan)
	}
	part("keepalive", strconv.FormatBool(c.Load.Keepalive))
	if c.Load.Rate != nil {
		part("arrival", c.Load.Arrival)
		part("rate", strconv.FormatFloat(*c.Load.Rate, 'f', -1, 64))
	}
	if c.Load.Idle > 0 {
		part("idle", strconv.Itoa(c.Load.Idle))
	}
	part("clients", strconv.Itoa(c.Load.Clients))
	return b.String()
}

// goWord is s without what would end a name or a part of one.
func goWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '.'
		case unicode.IsSpace(r) || !unicode.IsPrint(r):
			return '_'
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
