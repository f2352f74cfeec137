package chart

import (
	"html/template"
	"math"
)

// A Ratios is a column of ratios on one logarithmic axis, a strip for each
// row of a table.
type Ratios struct {
	extent extent
	scale  scale
}

// A Ratio is one row of [Ratios]. What is not known is NaN.
type Ratio struct {
	Value, Lo, Hi float64
	Published     float64
	Title         string
}

const (
	stripWidth, stripHeight = 260, 26
	stripMargin             = 14
	barWidth, barHeight     = 120, 14
)

// Add makes room for a ratio. All are added before the first is drawn.
func (r *Ratios) Add(v Ratio) {
	r.extent.add(1)
	for _, x := range []float64{v.Value, v.Lo, v.Hi, v.Published} {
		if x > 0 {
			r.extent.add(x)
		}
	}
	r.scale = r.extent.logarithmic()
	r.scale.from, r.scale.to = stripMargin, stripWidth-stripMargin
}

// SVG draws one: its interval as a band, the value as a mark, the published
// ratio as the other, and the line of no difference.
func (r *Ratios) SVG(v Ratio) template.HTML {
	var d drawing
	d.open("ratio", stripWidth, stripHeight, v.Title)
	middle := float64(stripHeight) / 2
	d.line("grid", stripMargin, middle, stripWidth-stripMargin, middle)
	d.line("unity", r.scale.at(1), 0, r.scale.at(1), stripHeight)
	if v.Lo > 0 && v.Hi >= v.Lo && !math.IsInf(v.Hi, 0) {
		lo, hi := r.scale.at(v.Lo), r.scale.at(v.Hi)
		d.rect("band s0", lo, middle-5, max(hi-lo, 1), 10, v.Title)
	}
	if v.Published > 0 {
		d.mark("other", 3, r.scale.at(v.Published), middle, v.Title)
	}
	if v.Value > 0 {
		d.mark("mark s0", 0, r.scale.at(v.Value), middle, v.Title)
	}
	return d.close()
}

// Axis draws the axis of all strips.
func (r *Ratios) Axis(format func(float64) string) template.HTML {
	var d drawing
	d.open("ratio-axis", stripWidth, stripHeight, "axis of the ratios")
	d.line("axis", stripMargin, 1, stripWidth-stripMargin, 1)
	free := 0.
	for _, v := range r.scale.ticks(6) {
		at, label := r.scale.at(v), format(v)
		half := digit * float64(len(label)) / 2
		if at-half < free || at+half > stripWidth {
			continue
		}
		d.line("axis", at, 1, at, 6)
		d.text("tick", "middle", at, 19, label)
		free = at + half + digit/2
	}
	return d.close()
}

// Bar draws a value from zero, with its interval, on a scale that ends at
// most.
func Bar(value, lo, hi, most float64, title string) template.HTML {
	if !(most > 0) || math.IsNaN(value) {
		return ""
	}
	var d drawing
	d.open("bar", barWidth, barHeight, title)
	at := func(v float64) float64 { return min(max(v, 0)/most, 1) * (barWidth - 2) }
	d.line("grid", 0, barHeight/2, barWidth, barHeight/2)
	d.rect("mark s0", 0, barHeight/2-3, max(at(value), .5), 6, title)
	if hi > lo {
		d.rect("band", at(lo), 1, max(at(hi)-at(lo), 1.5), barHeight-2, title)
	}
	return d.close()
}
