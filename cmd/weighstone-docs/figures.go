package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// figures are the tables of a variant's cells, from the first result that has
// any: that of floor, where it is, and of others what it does not have. In a study a variant stands for another server, with flags of its own, so
// that its cells there are none of these.
func figures(results []*bench.Document, variant string) string {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b *bench.Document) int { return boolInt(b.Name == "floor") - boolInt(a.Name == "floor") })
	for _, d := range results {
		if d.Study != nil {
			continue
		}
		if rows := cells(d, variant); rows != "" {
			return fmt.Sprintf("`%s` on %s, %d cores, %s; medians, in brackets their 95 %% intervals; the verdict of the whole is %s.\n\n",
				strings.Join(d.Command, " "), d.Environment.CPU, d.Environment.Cores, d.Environment.Kernel, d.Verdict) +
				rows + ratios(d, variant)
		}
	}
	return "Not yet measured: no committed result has this variant.\n"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cells(d *bench.Document, variant string) string {
	var b strings.Builder
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Variant != variant {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("| load | requests/s | server CPU, us a request | p50, ms | p99, ms | system calls a request |\n|---|---|---|---|---|---|\n")
		}
		m := &c.Metrics
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", load(c), metric(m.RequestsPerS), metric(m.ServerCPUMicros),
			metric(m.LatencyMS.P50), metric(m.LatencyMS.P99), perRequest(c.Syscalls))
	}
	return b.String()
}

// ratios is the table of the comparisons in which the variant comes first.
func ratios(d *bench.Document, variant string) string {
	names := map[string]bool{}
	for i := range d.Cells {
		if d.Cells[i].Variant == variant {
			names[d.Cells[i].Name] = true
		}
	}
	var b strings.Builder
	for i := range d.Comparisons {
		c := &d.Comparisons[i]
		if !names[c.A] || c.Ratio == nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n| comparison | of | ratio | difference |\n|---|---|---|---|\n")
		}
		interval := ""
		if c.Lo != nil && c.Hi != nil {
			interval = fmt.Sprintf(" [%s, %s]", short(*c.Lo), short(*c.Hi))
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s | %s |\n", c.Name, strings.TrimSuffix(strings.ReplaceAll(c.Metric, "_", " ")+", "+c.At, ", "), short(*c.Ratio), interval, shown(c.Claimed))
	}
	return b.String()
}

func shown(claimed *bool) string {
	switch {
	case claimed == nil:
		return "can't be said"
	case *claimed:
		return "shown"
	}
	return "none shown"
}

// perRequest lists calls that are made at least once in a hundred requests.
func perRequest(s *bench.Syscalls) string {
	if s == nil || len(s.PerRequest) == 0 {
		return "-"
	}
	var names []string
	for name, n := range s.PerRequest {
		if n >= 0.01 {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := s.PerRequest[names[i]], s.PerRequest[names[j]]
		return a > b || a == b && names[i] < names[j]
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.2f", name, s.PerRequest[name])
	}
	return strings.Join(names, ", ")
}

// load says what a cell's server was offered.
func load(c *bench.Cell) string {
	how := "kept connections"
	if !c.Load.Keepalive {
		how = "a connection each"
	}
	text := fmt.Sprintf("%s, %d clients, %s", c.Handler, c.Load.Clients, how)
	if c.Load.Rate != nil {
		text += fmt.Sprintf(", %.0f/s offered", *c.Load.Rate)
	}
	return text
}

func metric(m *bench.Metric) string {
	if m == nil || m.Median == nil {
		return "-"
	}
	if m.Lo == nil || m.Hi == nil {
		return short(*m.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", short(*m.Median), short(*m.Lo), short(*m.Hi))
}

// short gives a number three digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
