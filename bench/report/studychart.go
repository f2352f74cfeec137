package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/report/chart"
	"github.com/weighstone/weighstone/bench/study"
)

// charts redraws the study's figures, under one legend where that is the same.
// Those of which fewer than two points
// were run show nothing, and are named.
func (p *studyPage) charts(s *study.Study, d *bench.Document) {
	var left []string
	for i := range s.Charts {
		c := &s.Charts[i]
		svg, legend := drawStudy(s, d, c)
		if svg == "" {
			left = append(left, c.Title)
			continue
		}
		n := len(p.Charts)
		if n == 0 || !slices.Equal(p.Charts[n-1].Legend, legend) {
			p.Charts = append(p.Charts, figureGroup{Title: "As multiples of the first point", Legend: legend})
			n++
		}
		p.Charts[n-1].add(c.Title, svg)
	}
	if len(left) > 0 {
		p.LeftOut = "Not drawn, for want of two points of a curve in this run: " + strings.Join(left, "; ") + "."
	}
}

// drawStudy draws a figure with the measured and the published series, each as
// a multiple of its first point; empty if there is no curve in what was run.
func drawStudy(s *study.Study, d *bench.Document, c *study.Chart) (template.HTML, []legendEntry) {
	name, _ := c.Metric.Words()
	out := chart.Lines{Title: c.Title,
		X: chart.Axis{Label: "clients", Log: true}, Y: chart.Axis{Label: name + ", of its first point", Zero: true, Format: short}}
	for _, clients := range s.Clients(d, c.Series...) {
		out.X.At = append(out.X.At, chart.Tick{Value: float64(clients), Label: fmt.Sprint(clients)})
	}
	var legend []legendEntry
	curve := false
	for i, of := range c.Series {
		server, load := s.Server(of.Server), ""
		if shared(c.Series, of.Server) { // by several series, which their loads tell apart
			load = ", " + s.Load(of.Load).Label
		}
		measured, published := chart.Line{Series: 2 * i}, chart.Line{Series: 2*i + 1}
		for _, clients := range s.Clients(d, of) {
			at := study.Point{Server: of.Server, Load: of.Load, Clients: clients}
			if m := s.At(d, at, c.Metric); m != nil && m.Median != nil && *m.Median > 0 {
				measured.Points = append(measured.Points, pointOf(clients, m))
			}
			if v, ok := s.Published.At(at, c.Metric); ok && v > 0 {
				published.Points = append(published.Points, chart.Point{X: float64(clients), Y: v, Lo: v, Hi: v})
			}
		}
		curve = curve || len(measured.Points) > 1
		for _, l := range []struct {
			line  chart.Line
			label string
		}{{measured, server.Label() + load + ", measured"}, {published, server.Published + load + ", published"}} {
			if len(l.line.Points) == 0 {
				continue
			}
			normalise(l.line.Points, l.label)
			out.Lines = append(out.Lines, l.line)
			legend = append(legend, legendEntry{chart.Swatch(l.line.Series), l.label})
		}
	}
	if !curve {
		return "", nil
	}
	return out.SVG(), legend
}

// shared says whether several series are of a server.
func shared(all []study.Series, server string) bool {
	n := 0
	for _, of := range all {
		if of.Server == server {
			n++
		}
	}
	return n > 1
}

func pointOf(clients int, m *bench.Metric) chart.Point {
	p := chart.Point{X: float64(clients), Y: *m.Median, Lo: *m.Median, Hi: *m.Median}
	if m.Lo != nil && m.Hi != nil {
		p.Lo, p.Hi = *m.Lo, *m.Hi
	}
	return p
}

// normalise makes points multiples of the first.
func normalise(all []chart.Point, label string) {
	first := all[0].Y
	for i := range all {
		p := &all[i]
		p.Title = fmt.Sprintf("%s, %.0f clients: %s, %s of its first point", label, p.X, significant(p.Y), significant(p.Y/first))
		p.Y, p.Lo, p.Hi = p.Y/first, p.Lo/first, p.Hi/first
	}
}
