package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// Text writes the document for a terminal: the verdict first, with its
// reasons, then the comparisons, then the cells behind them, then the machine.
func Text(w io.Writer, d *bench.Document) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "verdict: %s\n", d.Verdict)
	for _, r := range d.Reasons {
		fmt.Fprintf(&b, "  - %s\n", strings.ReplaceAll(r, "\n", "\n    "))
	}
	if len(d.Headline) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(d.Headline, "\n"))
	}
	if len(d.Comparisons) > 0 {
		b.WriteString("\n")
		comparisons(d.Comparisons).write(&b)
	}
	if len(d.Cells) > 0 {
		b.WriteString("\n")
		cells(d.Cells).write(&b)
		if d.Name == cardName {
			spectrum(&b, d.Cells)
		}
		whyText(&b, d.Cells)
		b.WriteString("\nmedians of the runs; in brackets the 95 % order-statistics interval of the median. us/req is the server's CPU time\n" +
			"for each good reply, its children's included; server % and client % are how busy their cores were.\n")
	}
	if lines := controls(d); len(lines) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(lines, "\n"))
	}
	environment(&b, &d.Environment)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func comparisons(all []bench.Comparison) *table {
	t := newTable("comparison", "of", ">ratio", "95 % interval", ">p", ">published", "")
	for i := range all {
		c := &all[i]
		ratio, interval, p, published := "-", "-", "-", "-"
		if c.Ratio != nil {
			ratio = significant(*c.Ratio)
		}
		if c.Lo != nil && c.Hi != nil {
			interval = fmt.Sprintf("[%s, %s]", significant(*c.Lo), significant(*c.Hi))
		}
		if c.P != nil {
			p = fmt.Sprintf("%.3f", *c.P)
		}
		if c.Published != nil {
			published = significant(*c.Published)
		}
		of := unit(c.Metric)
		if c.At != "" {
			of += ", " + c.At
		}
		t.add(c.Name, of, ratio, interval, p, published, conclusion(c))
	}
	return t
}

// conclusion says in words what a comparison shows.
func conclusion(c *bench.Comparison) string {
	var words []string
	switch {
	case c.Ratio == nil:
		words = append(words, "not measured")
	case c.Lo == nil || c.Hi == nil:
		words = append(words, "too few runs for an interval")
	case c.Claimed != nil && !*c.Claimed, c.Claimed == nil && *c.Lo <= 1 && 1 <= *c.Hi:
		words = append(words, "no difference shown")
	case c.Claimed != nil:
		words = append(words, "a difference is shown")
	}
	if c.Note != "" {
		words = append(words, c.Note)
	}
	if c.Agrees != nil && *c.Agrees {
		words = append(words, "agrees with the published direction")
	} else if c.Agrees != nil {
		words = append(words, "CONTRADICTS the published direction")
	}
	text := strings.Join(words, "; ")
	if c.Source != "" {
		text = strings.TrimSpace(text + " (" + c.Source + ")")
	}
	return text
}

// unit is a metric in the words of the report.
func unit(metric string) string {
	switch metric {
	case "requests_per_s":
		return "requests/s"
	case "server_cpu_us_per_request":
		return "us/req"
	}
	return metric
}

func cells(all []bench.Cell) *table {
	t := newTable("variant", "handler", "load", ">requests/s", "", ">Mbit/s", ">p50 ms", ">p99 ms", ">max ms",
		">us/req", "", ">server %", ">client %", ">errors", "verdict")
	for i := range all {
		c := &all[i]
		m := &c.Metrics
		t.add(c.Variant, c.Handler, offered(&c.Load),
			median(m.RequestsPerS, thousands), interval(m.RequestsPerS, thousands), median(m.ThroughputMbitS, significant),
			median(m.LatencyMS.P50, significant), median(m.LatencyMS.P99, significant), median(m.LatencyMS.Max, significant),
			median(m.ServerCPUMicros, significant), interval(m.ServerCPUMicros, significant),
			median(m.ServerCPUPercent, whole), median(m.ClientCPUPercent, whole), fmt.Sprint(m.Errors.Total()), string(c.Verdict))
	}
	return t
}

// whyText writes the servers' side of cells, and their system calls.
func whyText(b *bytes.Buffer, all []bench.Cell) {
	t := newTable(append([]string{"why"}, why...)...)
	var calls []string
	for i := range all {
		c := &all[i]
		if row := whyRow(c); row != nil {
			t.add(append([]string{cellName(c)}, row...)...)
		}
		if text := syscalls(c.Syscalls); text != "" {
			calls = append(calls, cellName(c)+": "+text)
		}
	}
	if len(t.rows) > 1 {
		b.WriteString("\n")
		t.write(b)
	}
	if len(calls) > 0 {
		fmt.Fprintf(b, "\nsystem calls a request, from a pass of their own\n  %s\n", strings.Join(calls, "\n  "))
	}
}

// offered is a load in words.
func offered(l *bench.Load) string {
	s := fmt.Sprintf("%d", l.Clients)
	if l.Keepalive {
		s += " kept"
	}
	if l.Idle > 0 {
		s += fmt.Sprintf(" + %d idle", l.Idle)
	}
	if l.Rate != nil {
		s += fmt.Sprintf(", %s %s/s", l.Arrival, significant(*l.Rate))
	}
	if l.Plan != nil {
		s += ", " + *l.Plan
	}
	return s
}

func environment(b *bytes.Buffer, e *bench.Environment) {
	fmt.Fprintf(b, "\n%s, %s, %d cores, clock %s, %s", known(e.Kernel), known(e.CPU), e.Cores, known(e.Clock), known(e.Go))
	if e.Container != "" {
		fmt.Fprintf(b, ", %s", e.Container)
	}
	b.WriteString("\n")
	if network := e.Facts["network"]; network != "" {
		fmt.Fprintf(b, "over %s; server on cores %s, client on cores %s\n", network, e.Facts["server_cores"], e.Facts["client_cores"])
	}
	for _, name := range sortedKeys(e.Facts) {
		if subject, ok := strings.CutSuffix(name, ".version"); ok {
			fmt.Fprintf(b, "%s: %s\n", subject, e.Facts[name])
		}
	}
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
