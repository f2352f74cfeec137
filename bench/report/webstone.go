package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// A studyTable is one of the six tables of the study of 1996.
type studyTable struct {
	title string
	of    func(*bench.Figures[bench.Metric]) *bench.Metric
	as    func(float64) string
}

// studyTables are in the study's order. A connection of WebStone is one
// request with its reply.
var studyTables = []studyTable{
	{"Throughput, Mbit/s (10^6 bits)", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ThroughputMbitS }, decimals(2)},
	{"Connections per second", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.RequestsPerS }, decimals(1)},
	{"Response time, s", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.LatencyMS.Mean }, func(ms float64) string { return decimals(5)(ms / 1000) }},
	{"Errors per second", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ErrorsPerS }, decimals(2)},
	{"Server CPU, %", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ServerCPUPercent }, decimals(0)},
	{"Network, %", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.NetworkPercent }, decimals(0)},
}

func decimals(n int) func(float64) string {
	return func(v float64) string { return fmt.Sprintf("%.*f", n, v) }
}

// WebStone writes the document in the forms that WebStone's readers know: what
// has a ladder of clients as the tables 1A to 6B of the study of 1996 (the
// figure has the number, the subject the letter), everything else as the
// summary of WebStone 2.x, with what that left unsaid.
func WebStone(w io.Writer, d *bench.Document) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "verdict: %s\n", d.Verdict)
	for _, r := range d.Reasons {
		fmt.Fprintf(&b, "  - %s\n", strings.ReplaceAll(r, "\n", "\n    "))
	}
	all := allSeries(d.Cells)
	if climbing := ladders(all); len(climbing) > 0 {
		writeStudyTables(&b, climbing)
	}
	for _, s := range all {
		if s.ladder() {
			continue
		}
		for _, c := range s.cells {
			summary(&b, s, c)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// writeStudyTables writes the six tables, each for one subject after another.
func writeStudyTables(b *bytes.Buffer, all []*series) {
	var subjects []string
	for _, s := range all {
		if !slices.Contains(subjects, s.subject) {
			subjects = append(subjects, s.subject)
		}
	}
	for i, t := range studyTables {
		for k, subject := range subjects {
			var columns []*series
			for _, s := range all {
				if s.subject == subject {
					columns = append(columns, s)
				}
			}
			fmt.Fprintf(b, "\nTable %d%s. %s: %s\n", i+1, letter(k), t.title, subject)
			t.write(b, columns)
		}
	}
	b.WriteString("\nmedians of each cell's runs; - is not known. A connection is one request with its reply.\n")
}

func (t *studyTable) write(b *bytes.Buffer, columns []*series) {
	heading, counts, known := []string{">clients"}, []int{}, false
	for _, s := range columns {
		heading = append(heading, ">"+s.load)
		for _, c := range s.cells {
			counts = append(counts, c.Load.Clients)
			known = known || median(t.of(&c.Metrics), t.as) != "-"
		}
	}
	if !known {
		b.WriteString("  not measured\n")
		return
	}
	slices.Sort(counts)
	out := newTable(heading...)
	for _, clients := range slices.Compact(counts) {
		row := []string{fmt.Sprint(clients)}
		for _, s := range columns {
			text := "-"
			if c := s.at(clients); c != nil {
				text = median(t.of(&c.Metrics), t.as)
			}
			row = append(row, text)
		}
		out.add(row...)
	}
	out.write(b)
}

// letter is A, B, ... Z, AA, AB, ...
func letter(i int) string {
	s := string(rune('A' + i%26))
	if i >= 26 {
		return letter(i/26-1) + s
	}
	return s
}

// summary writes a cell as WebStone 2.x sums up a run.
func summary(b *bytes.Buffer, s *series, c *bench.Cell) {
	m, t := &c.Metrics, totals(c)
	fmt.Fprintf(b, "\n%s, %d clients\n", s.label(), c.Load.Clients)
	fmt.Fprintf(b, "verdict: %s\n\n", verdictWords(c.Verdict, c.Reasons))
	line := func(label, value, unit string) {
		fmt.Fprintf(b, "%-28s %s\n", label, strings.TrimSpace(value+" "+unit))
	}
	line("Clients", fmt.Sprint(c.Load.Clients), "")
	line("Test time", decimals(2)(t.seconds), fmt.Sprintf("s in %s", plural(t.runs, "run")))
	line("Connection rate", median(m.RequestsPerS, decimals(2)), "connections/s")
	line("Error rate", median(m.ErrorsPerS, decimals(4)), "errors/s")
	line("Throughput", median(m.ThroughputMbitS, decimals(2)), "Mbit/s of 10^6 bits")
	line("", median(m.ThroughputMbitS, func(v float64) string { return decimals(2)(v * 1e6 / (1 << 20)) }), "Mbit/s of 2^20 bits, as 2.x has it")
	line("Average latency", median(m.LatencyMS.Mean, func(v float64) string { return decimals(6)(v / 1000) }), "s")
	line("Little's load factor", median(m.Little, decimals(2)), "")
	line("Error level", share(t.errors, t.errors+t.good), "of all connections")
	line("", share(t.errors, t.good), "of the good ones, as 2.x has it")
	line("Connections", fmt.Sprintf("%d good, %d bad", t.good, t.errors), "")
	if t.pages > 0 {
		line("Pages", fmt.Sprint(t.pages), "")
	}
	b.WriteString("\n")
	out := newTable("", ">Average", ">Std dev", ">Minimum", ">Maximum")
	for _, row := range []struct {
		label string
		m     bench.Moments
		as    func(float64) string
	}{
		{"Connect time, s", t.connect, seconds}, {"Response time, s", t.reply, seconds},
		{"Response size, bytes", t.replyBytes, decimals(0)}, {"Body size, bytes", t.bodyBytes, decimals(0)},
	} {
		out.add(row.label, number(row.m.Mean, row.as), number(row.m.SD, row.as), number(row.m.Min, row.as), number(row.m.Max, row.as))
	}
	out.write(b)
}

func seconds(ms float64) string { return decimals(6)(ms / 1000) }

func verdictWords(v bench.Verdict, reasons []string) string {
	if len(reasons) == 0 {
		return string(v)
	}
	return string(v) + ": " + strings.Join(reasons, "; ")
}

func share(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f %%", 100*float64(part)/float64(whole))
}

// number is v as text, "-" for what is not known.
func number(v *float64, as func(float64) string) string {
	if v == nil {
		return "-"
	}
	return as(*v)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
