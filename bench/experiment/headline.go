package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// fewestRuns is how many runs it takes for a median with a 95 % interval.
const fewestRuns = 6

// headline says in sentences what to read first: where and how often it was
// measured, what the same server twice gave, and each CPU ratio at the same
// offered rate and at saturation.
func (d *design) headline(doc *bench.Document) []string {
	quick := ""
	switch {
	case doc.Design.Quick && d.runs == fewestRuns:
		quick = " (quick: the fewest that have an interval)"
	case doc.Design.Quick:
		quick = " (quick: shorter runs)"
	}
	lines := []string{fmt.Sprintf("over loopback, %d repetitions%s, server on core %s, client on core %s",
		d.runs, quick, doc.Environment.Facts["server_cores"], doc.Environment.Facts["client_cores"])}
	if text := warmupText(doc.Cells); text != "" {
		lines = append(lines, text)
	}
	for _, n := range doc.Noise {
		if n.Spread != nil {
			lines = append(lines, fmt.Sprintf("the same server twice (%s): %s differ by a factor of up to %.3f; smaller differences are not claimed",
				strings.TrimSuffix(n.Subject, ", A"), words(n.Metric), *n.Spread))
		}
	}
	for i := range d.compare {
		if c := &d.compare[i]; c.saturated > 0 {
			lines = append(lines, fmt.Sprintf("%s, CPU a request: %s at the same offered rate (%.0f/s, %s); %s with each saturated (%s)",
				d.compare[c.saturated-1].name, ratioText(&doc.Comparisons[i]), c.a.load.arrival.Rate, eventsText(&doc.Comparisons[i]),
				ratioText(&doc.Comparisons[c.saturated-1]), eventsText(&doc.Comparisons[c.saturated-1])))
		}
	}
	return lines
}

// warmupText says how much was dropped at the beginning of runs.
func warmupText(cells []bench.Cell) string {
	var all []float64
	for i := range cells {
		for k := range cells[i].Runs {
			if r := &cells[i].Runs[k]; r.Discarded == "" && r.Error == "" && r.WarmupS > 0 {
				all = append(all, r.WarmupS)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	least, most := slices.Min(all), slices.Max(all)
	if least == most {
		return fmt.Sprintf("warm-up dropped before each run: %.2g s", most)
	}
	return fmt.Sprintf("warm-up dropped before each run: %.2g to %.2g s, as the rate of each 100 ms had settled", least, most)
}

func words(metric string) string {
	if metric == string(claimCPU) {
		return "CPU times a request"
	}
	return "rates"
}

func ratioText(c *bench.Comparison) string {
	switch {
	case c.Ratio == nil:
		return "not measured"
	case c.Lo == nil || c.Hi == nil:
		return fmt.Sprintf("%.2f, too few runs for an interval", *c.Ratio)
	case c.Claimed != nil && !*c.Claimed:
		return fmt.Sprintf("no difference shown, %.2f [%.2f, %.2f]", *c.Ratio, *c.Lo, *c.Hi)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", *c.Ratio, *c.Lo, *c.Hi)
}

func eventsText(c *bench.Comparison) string {
	if c.EventsA == nil || c.EventsB == nil {
		text := func(v *float64) string {
			if v == nil {
				return "unknown"
			}
			return fmt.Sprintf("%.1f", *v)
		}
		return fmt.Sprintf("%s and %s events per wait", text(c.EventsA), text(c.EventsB))
	}
	whose := ""
	if c.EventsOf == "client" {
		whose = " of the client"
	}
	return fmt.Sprintf("%.1f and %.1f events per wait%s", *c.EventsA, *c.EventsB, whose)
}

// rankings orders the cells of each unit of three or more that claim the same
// metric, as far as their intervals allow.
func (d *design) rankings() []bench.Ranking {
	var all []bench.Ranking
	for _, unit := range d.units {
		if len(unit) < 3 {
			continue
		}
		if r, ok := rank(unit); ok {
			all = append(all, r)
		}
	}
	return all
}

func rank(unit []*cell) (bench.Ranking, bool) {
	m := unit[0].claims
	figures := make([]stat.Summary, len(unit))
	for i, c := range unit {
		if c.claims != m || c.handler != unit[0].handler {
			return bench.Ranking{}, false
		}
		var xs []float64
		for k := range c.runs {
			if v, ok := m.of(&c.runs[k].Figures); ok && c.runs[k].counts() {
				if m == claimRate {
					v = -v // the highest is the best
				}
				xs = append(xs, v)
			}
		}
		figures[i] = stat.Median(xs)
	}
	r := bench.Ranking{Metric: string(m)}
	for _, group := range stat.Ranking(figures) {
		var names []string
		for _, i := range group {
			names = append(names, unit[i].name)
		}
		r.Groups = append(r.Groups, names)
	}
	return r, true
}
