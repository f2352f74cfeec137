package chart

import (
	"fmt"
	"html/template"
	"slices"
)

// A Point is a value with its interval; without one, Lo and Hi are Y.
type Point struct {
	X, Y, Lo, Hi float64
	Title        string // shown when pointed at
}

// A Line is values in the order of X. Several lines may be of one series.
type Line struct {
	Series int // counting from 0: class, shape and dash
	Points []Point
	Thin   bool // one of several: without marks, but on its last value if Last
	Last   bool
}

// An Axis says how values are carried to places.
type Axis struct {
	Label  string
	Log    bool
	Zero   bool                 // has 0 on it
	At     []Tick               // instead of round values
	Format func(float64) string // of a tick
}

// A Tick is a place with a name.
type Tick struct {
	Value float64
	Label string
}

// Lines is a chart of lines with bands. Its legend is the page's.
type Lines struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// The size of a chart in pixels, and what is around its field.
const (
	chartWidth, chartHeight       = 390, 230
	topMargin, bottomMargin       = 26, 40
	rightMargin                   = 18
	tickGap                       = 6
	baseline                      = 4 // from the middle of a figure to its foot
	roomForFewTicks, roomForTicks = 4, 5
)

// SVG draws the chart; it is empty when there is no value in it.
func (c *Lines) SVG() template.HTML {
	var xs, ys extent
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs.add(p.X)
			ys.add(p.Y)
			ys.add(p.Lo)
			ys.add(p.Hi)
		}
	}
	if !xs.any {
		return ""
	}
	if c.X.Zero {
		xs.add(0)
	}
	for _, t := range c.X.At {
		xs.add(t.Value)
	}
	x, y := c.X.scale(xs, false), c.Y.scale(ys, true)
	xTicks, yTicks := c.X.ticks(&x, roomForTicks), c.Y.ticks(&y, roomForFewTicks)
	left := 0.
	for _, t := range yTicks {
		left = max(left, digit*float64(len([]rune(t.Label)))+tickGap+4)
	}
	x.from, x.to = left+6, chartWidth-rightMargin
	y.from, y.to = chartHeight-bottomMargin, topMargin

	var d drawing
	d.open("lines", chartWidth, chartHeight, c.Title)
	c.frame(&d, &x, &y, xTicks, yTicks)
	for _, l := range c.Lines {
		l.band(&d, &x, &y)
	}
	for _, l := range c.Lines {
		l.draw(&d, &x, &y)
	}
	return d.close()
}

func (c *Lines) frame(d *drawing, x, y *scale, xTicks, yTicks []Tick) {
	for _, t := range yTicks {
		at := y.at(t.Value)
		d.line("grid", x.from, at, x.to, at)
		d.text("tick", "end", x.from-tickGap, at+baseline, t.Label)
	}
	free := -100.
	for _, t := range xTicks {
		at := x.at(t.Value)
		d.line("axis", at, y.from, at, y.from+4)
		half := digit * float64(len([]rune(t.Label))) / 2
		if at-half < free || at+half > chartWidth {
			continue // would lie over its neighbour, or outside
		}
		d.text("tick", "middle", at, y.from+17, t.Label)
		free = at + half + digit/2
	}
	d.line("axis", x.from, y.from, x.to, y.from)
	d.text("label", "start", 2, 12, c.Y.Label)
	d.text("label", "end", x.to, chartHeight-5, c.X.Label)
}

func (a *Axis) scale(e extent, vertical bool) scale {
	if a.Log && e.lo > 0 {
		s := e.logarithmic()
		if !vertical {
			s.lo, s.hi = e.lo, max(e.hi, e.lo*1.01)
		}
		return s
	}
	if !vertical {
		if e.hi <= e.lo {
			e.hi = e.lo + 1
		}
		return scale{lo: e.lo, hi: e.hi}
	}
	return e.linear(a.Zero)
}

func (a *Axis) ticks(s *scale, n int) []Tick {
	if a.At != nil {
		return a.At
	}
	var all []Tick
	for _, v := range s.ticks(n) {
		all = append(all, Tick{v, a.Format(v)})
	}
	return all
}

// band draws the area of the intervals, if there are any.
func (l *Line) band(d *drawing, x, y *scale) {
	var upper, lower []vertex
	wide := false
	for _, p := range l.Points {
		upper, lower = append(upper, vertex{x.at(p.X), y.at(p.Hi)}), append(lower, vertex{x.at(p.X), y.at(p.Lo)})
		wide = wide || p.Hi > p.Lo
	}
	if !wide {
		return
	}
	slices.Reverse(lower)
	fmt.Fprintf(d, `<path class="band %s" d="%sz"/>`, series(l.Series), path(append(upper, lower...)))
}

func (l *Line) draw(d *drawing, x, y *scale) {
	var at []vertex
	for _, p := range l.Points {
		at = append(at, vertex{x.at(p.X), y.at(p.Y)})
	}
	class := "line "
	if l.Thin {
		class = "line thin "
	}
	if len(at) > 1 {
		fmt.Fprintf(d, `<path class="%s%s" d="%s"/>`, class, series(l.Series), path(at))
	}
	for i, p := range l.Points {
		if !l.Thin || len(at) == 1 || l.Last && i == len(at)-1 {
			d.mark("mark "+series(l.Series), l.Series, at[i].x, at[i].y, p.Title)
		}
	}
}
