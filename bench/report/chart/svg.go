package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// digit is how wide a digit of a tick is at most, in pixels, at the page's
// size of 12 for text in charts, in any of the usual sans-serif fonts.
const digit = 7.2

// A drawing is an SVG on its way.
type drawing struct{ strings.Builder }

// open begins a drawing of a size in pixels, which the page may scale; title
// is what is read out for it.
func (d *drawing) open(class string, width, height float64, title string) {
	fmt.Fprintf(d, `<svg class="chart %s" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s">`,
		class, px(width), px(height), px(width), px(height), html.EscapeString(title))
}

func (d *drawing) close() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String())
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<path class="%s" d="M%s %sL%s %s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (d *drawing) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(d, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, px(x), px(y), html.EscapeString(s))
}

func (d *drawing) rect(class string, x, y, width, height float64, title string) {
	fmt.Fprintf(d, `<rect class="%s" x="%s" y="%s" width="%s" height="%s">%s</rect>`, class, px(x), px(y), px(width), px(height), titled(title))
}

// A vertex is a point in pixels.
type vertex struct{ x, y float64 }

func path(points []vertex) string {
	var b strings.Builder
	for i, p := range points {
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&b, "%c%s %s", command, px(p.x), px(p.y))
	}
	return b.String()
}

// shapes are the marks of series, of about equal weight, around the origin.
var shapes = [...]string{
	"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", // disc
	"M-3.2 -3.2h6.4v6.4h-6.4z",                      // square
	"M0 -4.2L4 3.2H-4z",                             // triangle
	"M0 -4.6L4.6 0L0 4.6L-4.6 0z",                   // diamond
}

func (d *drawing) mark(class string, shape int, x, y float64, title string) {
	fmt.Fprintf(d, `<path class="%s" transform="translate(%s %s)" d="%s">%s</path>`, class, px(x), px(y), shapes[shape%len(shapes)], titled(title))
}

func titled(s string) string {
	if s == "" {
		return ""
	}
	return "<title>" + html.EscapeString(s) + "</title>"
}

// colours is how many series have classes of their own.
const colours = 8

func series(i int) string { return "s" + strconv.Itoa(i%colours) }

// px is a length with a tenth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// Swatch is a sample of the i-th series of a chart, for a legend.
func Swatch(i int) template.HTML {
	var d drawing
	d.WriteString(`<svg class="swatch" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">`)
	d.line("line "+series(i), 1, 6, 27, 6)
	d.mark("mark "+series(i), i, 14, 6, "")
	return d.close()
}
