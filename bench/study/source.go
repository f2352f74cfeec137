package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// measured are the figures of a document.
type measured struct {
	study *Study
	doc   *bench.Document
}

// Find returns the document's cell of a point; nil if there is none.
func (s *Study) Find(doc *bench.Document, p Point) *bench.Cell {
	name := s.Cell(p)
	for i := range doc.Cells {
		if doc.Cells[i].Name == name {
			return &doc.Cells[i]
		}
	}
	return nil
}

// cell is the cell of a point, if it can be used, or why not.
func (m measured) cell(p Point) (*bench.Cell, string) {
	c := m.study.Find(m.doc, p)
	switch {
	case c == nil:
		return nil, fmt.Sprintf("%q was not run", m.study.Cell(p))
	case c.Verdict.Failed():
		return nil, fmt.Sprintf("%q is %s: %s", c.Name, c.Verdict, strings.Join(c.Reasons, "; "))
	}
	return c, ""
}

func (m measured) runs(p Point, metric Metric) ([]float64, string) {
	c, missing := m.cell(p)
	if c == nil {
		return nil, missing
	}
	xs := metric.values(c)
	if len(xs) == 0 {
		name, _ := metric.Words()
		return nil, fmt.Sprintf("nothing is known of the %s of %q", name, c.Name)
	}
	return xs, ""
}

// busyServer is how busy a server's core must be, in percent, for its rate to
// be what it can do.
const busyServer = 95

func (m measured) bounded(p Point) bool {
	c, _ := m.cell(p)
	if c == nil || c.Metrics.ServerCPUPercent == nil || c.Metrics.ServerCPUPercent.Median == nil {
		return false
	}
	var others []float64
	for i := range c.Runs {
		others = append(others, c.Runs[i].OthersPercent)
	}
	return *c.Metrics.ServerCPUPercent.Median+stat.Median(others).Median >= busyServer
}

func (m measured) errors(p Point) (bad, all float64, missing string) {
	c, missing := m.cell(p)
	if c == nil {
		return 0, 0, missing
	}
	bad = float64(c.Metrics.Errors.Total())
	all = bad
	for i := range c.Runs {
		all += float64(c.Runs[i].Requests)
	}
	return bad, all, ""
}

func (m measured) posts(p Point) (bad, all float64, missing string) {
	c, missing := m.cell(p)
	if c == nil {
		return 0, 0, missing
	}
	for i := range c.Runs {
		if s := c.Runs[i].Specweb; s != nil {
			bad, all = bad+float64(s.Broken()), all+float64(s.Posts)
		}
	}
	return bad, all, ""
}

func (m measured) noise(metric Metric) float64 {
	name := "requests_per_s"
	if metric == Capacity {
		name = "server_cpu_us_per_request"
	}
	for _, n := range m.doc.Noise {
		if n.Metric == name && n.Spread != nil && (metric == Capacity || metric.rate()) {
			return *n.Spread
		}
	}
	return 1
}

func (m measured) summary(xs []float64) Value {
	logs := make([]float64, 0, len(xs))
	for _, x := range xs {
		logs = append(logs, math.Log(x))
	}
	s := stat.Median(logs)
	v := Value{Median: math.Exp(s.Median), Lo: math.Exp(s.Lo), Hi: math.Exp(s.Hi), N: s.N, Noise: 1}
	if !s.Bounded() {
		v.Unknown = fmt.Sprintf("%d runs are too few for an interval, which takes %d", s.N, stat.MinRuns)
	}
	return v
}

// tables are a study's own figures, which have no intervals.
type tables struct{ study *Study }

func (t tables) runs(p Point, m Metric) ([]float64, string) {
	v, ok := t.study.Published.At(p, m)
	if !ok {
		return nil, "not published"
	}
	return []float64{v}, ""
}

func (tables) bounded(Point) bool   { return true }
func (tables) noise(Metric) float64 { return 1 }

// errors are rates there, which as shares say the same.
func (t tables) errors(p Point) (bad, all float64, missing string) {
	bad, ok := t.study.Published.At(p, Errors)
	good, okToo := t.study.Published.At(p, Connections)
	if !ok || !okToo {
		return 0, 0, "not published"
	}
	return bad, bad + good, ""
}

func (tables) posts(Point) (bad, all float64, missing string) { return 0, 0, "not published" }

func (tables) summary(xs []float64) Value {
	if len(xs) == 0 {
		return Value{Unknown: "not published"}
	}
	return Value{Median: xs[0], Lo: xs[0], Hi: xs[0], N: 1, Noise: 1}
}

// At is a metric at a point of a document, the median of the runs with its
// interval; nil where it is not known.
func (s *Study) At(doc *bench.Document, p Point, metric Metric) *bench.Metric {
	c := s.Find(doc, p)
	if c == nil {
		return nil
	}
	xs := metric.values(c)
	if len(xs) == 0 {
		return nil
	}
	m := stat.Median(xs)
	return &bench.Metric{Median: bench.Number(m.Median), Lo: bench.Number(m.Lo), Hi: bench.Number(m.Hi), N: m.N}
}

// Clients are the numbers of clients at which a series was run or published,
// ascending.
func (s *Study) Clients(doc *bench.Document, of ...Series) []int {
	seen := map[int]bool{}
	add := func(p Point, known bool) {
		for _, o := range of {
			if known && p.Server == o.Server && p.Load == o.Load {
				seen[p.Clients] = true
			}
		}
	}
	for p := range s.Published {
		add(p, true)
	}
	for _, units := range [][]Unit{s.Full, s.Quick} {
		for _, u := range units {
			for _, p := range u {
				add(p, s.Find(doc, p) != nil)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (measured) share(part, whole float64) Value {
	lo, hi := wilson(part, whole)
	return Value{Median: part / whole, Lo: lo, Hi: hi, N: int(whole)}
}

func (tables) share(part, whole float64) Value {
	v := part / whole
	return Value{Median: v, Lo: v, Hi: v, N: 1}
}
