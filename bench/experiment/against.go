package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// ErrDifferent says that two results can't be compared, because what they were
// measured on or with is not the same.
var ErrDifferent = errors.New("the results are not comparable")

// A figure is what Compare compares of two cells.
type figure struct {
	name string
	of   func(*bench.Figures[float64]) *float64
}

func figuresCompared() []figure {
	return []figure{
		{string(claimRate), func(f *bench.Figures[float64]) *float64 { return f.RequestsPerS }},
		{string(claimCPU), func(f *bench.Figures[float64]) *float64 { return f.ServerCPUMicros }},
		{"latency_ms.p50", func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.P50 }},
		{"latency_ms.p99", func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.P99 }},
	}
}

// Compare compares each cell that two results have in common, new to old. The
// runs were not paired, so each ratio is the Hodges-Lehmann shift of the
// logarithms, exponentiated. It fails with [ErrDifferent] when kernel, cores or
// fixtures are not the same, unless force; then the reasons say so. Either
// result stays as it is.
func Compare(old, now *bench.Document, force bool) (*bench.Document, error) {
	differences := differ(&old.Environment, &now.Environment)
	if len(differences) > 0 && !force {
		return nil, fmt.Errorf("%w: %s (--force compares them all the same)", ErrDifferent, strings.Join(differences, ", "))
	}
	doc := &bench.Document{
		Schema: bench.Schema, Name: now.Name, Environment: now.Environment,
		Cells: []bench.Cell{}, Comparisons: []bench.Comparison{}, Verdict: bench.Valid, Reasons: []string{},
	}
	if len(differences) > 0 {
		doc.Verdict = doc.Verdict.Worse(bench.Noisy)
		doc.Reasons = append(doc.Reasons, "compared by force: "+strings.Join(differences, ", "))
	}
	spread := func(name string) float64 {
		return math.Max(spreadOf(old.Noise, metric(name)), spreadOf(now.Noise, metric(name)))
	}
	doc.Headline = []string{
		fmt.Sprintf("new to old; the runs were not paired: a machine that changed in between shows as a difference (load was %s, now %s)",
			orUnknown(old.Environment.Load), orUnknown(now.Environment.Load)),
	}
	missing := unmatched(old, now)
	for i := range now.Cells {
		b := &now.Cells[i]
		a := find(old, b)
		if a == nil {
			continue
		}
		doc.Cells = append(doc.Cells, *b)
		doc.Verdict = doc.Verdict.Worse(a.Verdict).Worse(b.Verdict)
		for _, c := range []*bench.Cell{a, b} {
			if c.Verdict != bench.Valid {
				doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s is %s in the %s result: %s", label(c), c.Verdict,
					map[bool]string{true: "old", false: "new"}[c == a], strings.Join(c.Reasons, "; ")))
			}
		}
		for _, f := range figuresCompared() {
			if c, ok := against(a, b, f, spread(f.name)); ok {
				doc.Comparisons = append(doc.Comparisons, c)
			}
		}
	}
	if len(doc.Cells) == 0 {
		return nil, fmt.Errorf("%w: they have no cell in common", ErrDifferent)
	}
	doc.Reasons = append(doc.Reasons, missing...)
	return doc, nil
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

// differ says in what two environments differ that matters.
func differ(old, now *bench.Environment) []string {
	var all []string
	add := func(what, a, b string) {
		if a != b {
			all = append(all, fmt.Sprintf("%s: old %q, new %q", what, a, b))
		}
	}
	add("kernel", old.Kernel, now.Kernel)
	add("cores", fmt.Sprint(old.Cores), fmt.Sprint(now.Cores))
	add("cpu", old.CPU, now.CPU)
	add("fixtures", old.Fixtures, now.Fixtures)
	return all
}

// key is what two cells that are the same have in common. The rate of an open
// loop follows from what the servers could do on that day, so it may be off a
// little; find looks at it.
func key(c *bench.Cell) string {
	l := &c.Load
	plan := ""
	if l.Plan != nil {
		plan = *l.Plan
	}
	return fmt.Sprint(c.Name, "|", c.Variant, "|", c.Handler, "|", l.Clients, "|", l.Keepalive, "|", l.Arrival, "|", plan, "|", l.Idle)
}

// rateOff is by how much the offered rates of a cell may differ in two results.
const rateOff = 0.1

func find(d *bench.Document, c *bench.Cell) *bench.Cell {
	i := slices.IndexFunc(d.Cells, func(o bench.Cell) bool {
		if key(&o) != key(c) {
			return false
		}
		a, b := o.Load.Rate, c.Load.Rate
		return a == nil && b == nil || a != nil && b != nil && math.Abs(*a-*b) <= rateOff*math.Max(*a, *b)
	})
	if i < 0 {
		return nil
	}
	return &d.Cells[i]
}

// unmatched says which cells only one of the results has.
func unmatched(old, now *bench.Document) []string {
	var all []string
	for i := range old.Cells {
		if find(now, &old.Cells[i]) == nil {
			all = append(all, "only the old result has "+label(&old.Cells[i]))
		}
	}
	for i := range now.Cells {
		if find(old, &now.Cells[i]) == nil {
			all = append(all, "only the new result has "+label(&now.Cells[i]))
		}
	}
	return all
}

func label(c *bench.Cell) string {
	text := c.Name
	if text == "" {
		text = strings.TrimSpace(c.Variant + " " + c.Handler)
	}
	if c.Load.Rate != nil {
		text += fmt.Sprintf(" at %.0f/s", *c.Load.Rate)
	}
	return text
}

// against compares one figure of two cells; false when neither knows it.
func against(old, now *bench.Cell, f figure, spread float64) (bench.Comparison, bool) {
	a, b := values(now, f), values(old, f)
	if len(a) == 0 || len(b) == 0 {
		return bench.Comparison{}, false
	}
	out := bench.Comparison{Name: label(now), A: "new", B: "old", Metric: f.name, How: "unpaired"}
	result := stat.CompareUnpaired(a, b)
	state(&out, result, spread)
	faster := stat.SideOf(result.Ratio, 1) == stat.Above
	c := comparison{metric: metric(f.name), a: &cell{name: "the new one"}, b: &cell{name: "the old one"}}
	if out.Claimed != nil && *out.Claimed && !(c.usable(now.Verdict, faster) && c.usable(old.Verdict, !faster)) {
		out.Claimed = nil
		out.Note = "not claimed: " + c.unusable(now.Verdict, old.Verdict, faster)
	}
	return out, true
}

func values(c *bench.Cell, f figure) []float64 {
	var xs []float64
	for i := range c.Runs {
		r := &c.Runs[i]
		if v := f.of(&r.Figures); v != nil && r.Discarded == "" && r.Error == "" {
			xs = append(xs, *v)
		}
	}
	return xs
}
