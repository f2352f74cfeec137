package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestScales takes any values and wants all of them on the scale, and ticks
// that are there, ascending, and not too many.
func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e extent
		values := rapid.SliceOfN(rapid.Float64Range(1e-4, 1e9), 1, 10).Draw(t, "values")
		for _, v := range values {
			e.add(v)
		}
		for _, s := range []scale{e.linear(true), e.linear(false), e.logarithmic()} {
			s.from, s.to = 0, 100
			for _, v := range values {
				if at := s.at(v); !s.has(v) || at < -1e-6 || at > 100+1e-6 {
					t.Fatalf("%v is at %v of %+v", v, at, s)
				}
			}
			ticks := s.ticks(5)
			if len(ticks) == 0 || len(ticks) > 16 || !slices.IsSorted(ticks) || math.Signbit(ticks[0]) {
				t.Fatalf("ticks %v of %+v", ticks, s)
			}
			for _, v := range ticks {
				if !s.has(v) {
					t.Fatalf("tick %v is not on %+v", v, s)
				}
			}
		}
	})
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		want   string
	}{
		{0, 9700, false, "[0 5000 10000]"},
		{0, 45, false, "[0 20 40 60]"},
		{.8, 1.3, true, "[0.8 1 1.2]"},
		{.9, 11, true, "[1 2 5 10]"},
		{.01, 30000, true, "[0.01 0.1 1 10 100 1000 10000]"},
	} {
		e := extent{lo: c.lo, hi: c.hi, any: true}
		s := e.linear(true)
		if c.log {
			s = e.logarithmic()
		}
		n := roomForFewTicks
		if c.log {
			n = roomForTicks
		}
		var rounded []float64
		for _, v := range s.ticks(n) {
			rounded = append(rounded, math.Round(v*1e6)/1e6)
		}
		if got := fmt.Sprint(rounded); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// count reads an SVG as XML and counts elements by the first of their classes.
func count(t *testing.T, svg string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					n[strings.Fields(a.Value)[0]]++
				}
			}
		}
	}
}

func TestLines(t *testing.T) {
	plain := func(v float64) string { return fmt.Sprint(v) }
	c := Lines{Title: `<&">`, X: Axis{Label: "<x>", Format: plain}, Y: Axis{Label: "&y", Zero: true, Format: plain}, Lines: []Line{
		{Series: 0, Points: []Point{{X: 1, Y: 5, Lo: 4, Hi: 6, Title: "<1>"}, {X: 2, Y: 7, Lo: 7, Hi: 8}}},
		{Series: 1, Thin: true, Last: true, Points: []Point{{X: 1, Y: 5, Lo: 5, Hi: 5}, {X: 2, Y: 7, Lo: 7, Hi: 7}, {X: 3, Y: 7, Lo: 7, Hi: 7}}},
		{Series: 9, Thin: true, Points: []Point{{X: 1, Y: 5, Lo: 5, Hi: 5}}},
	}}
	n := count(t, string(c.SVG()))
	if n["line"] != 2 || n["mark"] != 2+1+1 || n["band"] != 1 || n["label"] != 2 || n["chart"] != 1 {
		t.Errorf("%v", n)
	}
	if svg := (&Lines{Lines: []Line{{}}}).SVG(); svg != "" {
		t.Errorf("a chart of nothing: %s", svg)
	}
}

func TestStrips(t *testing.T) {
	var r Ratios
	nan := math.NaN()
	rows := []Ratio{
		{Value: 2, Lo: 1.5, Hi: 2.5, Published: 3, Title: "<a>"},
		{Value: 2, Lo: nan, Hi: nan, Published: nan},
		{Value: nan, Lo: nan, Hi: nan, Published: nan},
		{Value: 0, Lo: 0, Hi: math.Inf(1), Published: nan},
	}
	for _, row := range rows {
		r.Add(row)
	}
	for i, want := range []string{"1 1 1", "1 0 0", "0 0 0", "0 0 0"} {
		n := count(t, string(r.SVG(rows[i])))
		if got := fmt.Sprint(n["mark"], n["band"], n["other"]); got != want || n["unity"] != 1 {
			t.Errorf("row %d: %v", i, n)
		}
	}
	if n := count(t, string(Bar(5, 4, 6, 10, "<b>"))); n["mark"] != 1 || n["band"] != 1 {
		t.Errorf("bar: %v", n)
	}
	if svg := Bar(5, nan, nan, 0, ""); svg != "" {
		t.Errorf("a bar without a scale: %s", svg)
	}
	count(t, string(Swatch(11)))
}
