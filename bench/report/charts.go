package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/report/chart"
)

// most is how many series share a chart: as many as look different.
const most = 8

// A ladderChart is one figure against the number of clients.
type ladderChart struct {
	title, unit string
	of          func(*bench.Figures[bench.Metric]) *bench.Metric
}

var ladderCharts = []ladderChart{
	{"Throughput", "requests/s", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.RequestsPerS }},
	{"Latency, median", "ms", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.LatencyMS.P50 }},
	{"Latency, 99 of 100", "ms", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.LatencyMS.P99 }},
	{"Server CPU a request", "\u00b5s", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ServerCPUMicros }},
	{"Server CPU", "%", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ServerCPUPercent }},
	{"Client CPU", "%", func(f *bench.Figures[bench.Metric]) *bench.Metric { return f.ClientCPUPercent }},
}

// ladderGroups draws what has a ladder of clients: the subjects under one load
// together, or, of one subject alone, all its loads.
func ladderGroups(all []*series) (groups []figureGroup) {
	subjects := map[string]bool{}
	for _, s := range all {
		subjects[s.subject] = true
	}
	var order []string
	sorted := map[string][]*series{}
	for _, s := range all {
		key := s.load
		if len(subjects) == 1 {
			key = s.subject
		}
		if sorted[key] == nil {
			order = append(order, key)
		}
		sorted[key] = append(sorted[key], s)
	}
	for _, key := range order {
		for _, part := range parts(sorted[key]) {
			g := figureGroup{Title: key}
			for i, s := range part {
				label := s.subject
				if len(subjects) == 1 {
					label = s.load
				}
				g.Legend = append(g.Legend, legendEntry{chart.Swatch(i), label})
			}
			for _, c := range ladderCharts {
				g.add(c.title, c.draw(key, part))
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// parts cuts a list into such that fit into a chart.
func parts[T any](all []T) (cut [][]T) {
	for len(all) > most {
		cut, all = append(cut, all[:most]), all[most:]
	}
	if len(all) > 0 {
		cut = append(cut, all)
	}
	return cut
}

// add adds a chart unless it is empty.
func (g *figureGroup) add(title string, svg template.HTML) {
	if svg != "" {
		g.Charts = append(g.Charts, titledChart{title, svg})
	}
}

func (c *ladderChart) draw(of string, all []*series) template.HTML {
	out := chart.Lines{
		Title: fmt.Sprintf("%s against the number of clients: %s", c.title, of),
		X:     chart.Axis{Label: "clients", Log: true}, Y: chart.Axis{Label: c.unit, Zero: true, Format: short},
	}
	places := map[int]bool{}
	for i, s := range all {
		line := chart.Line{Series: i}
		for _, cell := range s.cells {
			m := c.of(&cell.Metrics)
			if m == nil || m.Median == nil {
				continue
			}
			clients := cell.Load.Clients
			p := chart.Point{X: float64(clients), Y: *m.Median, Lo: *m.Median, Hi: *m.Median}
			if m.Lo != nil && m.Hi != nil {
				p.Lo, p.Hi = *m.Lo, *m.Hi
			}
			p.Title = fmt.Sprintf("%s, %d clients: %s %s", s.subject, clients, median(m, significant), interval(m, significant))
			line.Points = append(line.Points, p)
			if !places[clients] {
				places[clients] = true
				out.X.At = append(out.X.At, chart.Tick{Value: float64(clients), Label: fmt.Sprint(clients)})
			}
		}
		if len(line.Points) > 0 {
			out.Lines = append(out.Lines, line)
		}
	}
	return out.SVG()
}

// detailGroups draws what the client knows of runs: their spectra and their
// seconds. The cells of one load share charts, or, in a ladder, those of one
// subject.
func detailGroups(all []*series) (groups []figureGroup) {
	type entry struct {
		label string
		cell  *bench.Cell
	}
	var order []string
	sorted := map[string][]entry{}
	for _, s := range all {
		for _, c := range s.cells {
			key, label := fmt.Sprintf("%s, %d clients", s.load, c.Load.Clients), s.subject
			if s.ladder() {
				key, label = s.label(), plural(c.Load.Clients, "client")
			}
			if sorted[key] == nil {
				order = append(order, key)
			}
			sorted[key] = append(sorted[key], entry{label, c})
		}
	}
	for _, key := range order {
		for _, part := range parts(sorted[key]) {
			g := figureGroup{Title: key}
			var cells []*bench.Cell
			for i, e := range part {
				g.Legend = append(g.Legend, legendEntry{chart.Swatch(i), e.label})
				cells = append(cells, e.cell)
			}
			g.add("Latency, spectrum", spectrumChart(key, cells))
			if !hasCourse(cells) {
				g.add("Throughput, each 100 ms", stepsChart(key, cells))
			}
			g.add("Throughput, each second", secondsChart(key, "requests/s", cells, func(s *bench.Second) *float64 { return bench.Number(float64(s.Good) / s.ForS) }))
			g.add("Latency, 99 of 100 in each second", secondsChart(key, "ms", cells, func(s *bench.Second) *float64 { return s.P99 }))
			if len(g.Charts) > 0 {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// nines is where a quantile stands on the axis of a spectrum: each nine more
// is as far from the last.
func nines(q float64) float64 { return -math.Log10(1 - q) }

// spectrumTicks name the quantiles at which nines is a whole number, and the
// median.
func spectrumTicks(most float64) (ticks []chart.Tick) {
	for _, q := range []struct {
		q     float64
		label string
	}{{.5, "50 %"}, {.9, "90 %"}, {.99, "99 %"}, {.999, "99.9 %"}, {.9999, "99.99 %"}, {.99999, "99.999 %"}, {.999999, "99.9999 %"}} {
		if at := nines(q.q); at <= most {
			ticks = append(ticks, chart.Tick{Value: at, Label: q.label})
		}
	}
	return ticks
}

// spectrumChart draws the latency of each run by quantile. The mark at the end
// of a line is the maximum, at the share that one of all requests is.
func spectrumChart(of string, cells []*bench.Cell) template.HTML {
	out := chart.Lines{
		Title: "spectrum of the latency: " + of,
		X:     chart.Axis{Label: "share of requests served within it"}, Y: chart.Axis{Label: "ms", Log: true, Format: short},
	}
	widest := nines(.9)
	eachRun(cells, func(i int, r *bench.Run) {
		line := chart.Line{Series: i, Thin: true, Last: true}
		for _, p := range r.Client.Spectrum {
			x := nines(p.Q)
			if p.Q >= 1 {
				x = math.Log10(max(float64(r.Requests), 2))
			}
			if p.MS > 0 {
				widest = max(widest, x)
				line.Points = append(line.Points, chart.Point{X: x, Y: p.MS, Lo: p.MS, Hi: p.MS, Title: "maximum " + significant(p.MS) + " ms"})
			}
		}
		if len(line.Points) > 0 {
			out.Lines = append(out.Lines, line)
		}
	})
	out.X.At = spectrumTicks(widest)
	return out.SVG()
}

// fewest is how many points of a series make a course that is worth drawing.
const fewest = 3

// hasCourse says whether any run lasted for as many seconds.
func hasCourse(cells []*bench.Cell) (has bool) {
	eachRun(cells, func(_ int, r *bench.Run) {
		n := 0
		for _, s := range r.Client.Seconds {
			if s.ForS >= shortest {
				n++
			}
		}
		has = has || n >= fewest
	})
	return has
}

// stepsChart draws the rate of each short run by steps of 100 ms.
func stepsChart(of string, cells []*bench.Cell) template.HTML {
	const step = 0.1
	out := chart.Lines{
		Title: "requests/s in each 100 ms: " + of,
		X:     chart.Axis{Label: "s since the warm-up", Zero: true, Format: short}, Y: chart.Axis{Label: "requests/s", Zero: true, Format: short},
	}
	eachRun(cells, func(i int, r *bench.Run) {
		line := chart.Line{Series: i, Thin: true}
		for k, n := range r.Client.Steps {
			y := float64(n) / step
			line.Points = append(line.Points, chart.Point{X: (float64(k) + 0.5) * step, Y: y, Lo: y, Hi: y, Title: significant(y)})
		}
		if len(line.Points) >= fewest {
			out.Lines = append(out.Lines, line)
		}
	})
	return out.SVG()
}

// secondsChart draws a figure of each run second by second, of runs that are
// long enough to have a course.
func secondsChart(of, unit string, cells []*bench.Cell, value func(*bench.Second) *float64) template.HTML {
	out := chart.Lines{
		Title: unit + " in each second: " + of,
		X:     chart.Axis{Label: "s since the start of the run", Zero: true, Format: short}, Y: chart.Axis{Label: unit, Zero: true, Format: short},
	}
	eachRun(cells, func(i int, r *bench.Run) {
		line := chart.Line{Series: i, Thin: true}
		for k := range r.Client.Seconds {
			s := &r.Client.Seconds[k]
			if s.ForS < shortest {
				continue
			}
			if v := value(s); v != nil {
				line.Points = append(line.Points, chart.Point{X: s.AtS + s.ForS/2, Y: *v, Lo: *v, Hi: *v, Title: significant(*v)})
			}
		}
		if len(line.Points) >= fewest {
			out.Lines = append(out.Lines, line)
		}
	})
	return out.SVG()
}

// shortest is how long a stretch is, in seconds, whose rate says something.
const shortest = 0.2

// eachRun calls f for the runs that count and of which the client told, with
// the index of their cell.
func eachRun(cells []*bench.Cell, f func(i int, r *bench.Run)) {
	for i, c := range cells {
		for k := range c.Runs {
			if r := &c.Runs[k]; counts(r) && r.Client != nil {
				f(i, r)
			}
		}
	}
}

// short is a number for a tick: 1500 is 1.5k.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size*(1-1e-9) {
			return fmt.Sprintf("%.4g", v/unit.size) + unit.name
		}
	}
	return fmt.Sprintf("%.4g", v)
}
