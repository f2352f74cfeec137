package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/report/chart"
)

//go:embed page.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

// HTML writes the document as one page that needs nothing else: no network, no
// script, charts as SVG in its text. It is dressed for light, for dark and for
// paper. Every text of the document is escaped.
func HTML(w io.Writer, d *bench.Document) error {
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newPage(d)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// A page is what the template shows.
type page struct {
	Style       template.CSS
	Document    *bench.Document
	Title       string
	Where       string
	Comparisons []comparisonRow
	RatioAxis   template.HTML
	Ladders     []figureGroup
	Details     []figureGroup
	Cells       []cellRow
	WhyHeading  []string
	Why         []whyLine
	Calls       []fact
	Controls    []string
	Environment []fact
}

type comparisonRow struct {
	bench.Comparison
	Unit, RatioText, Interval, PText, PublishedText, Conclusion string
	Circumstances                                               string
	Judgement                                                   string // class: agrees, contradicts or empty
	Strip                                                       template.HTML
}

type cellRow struct {
	*bench.Cell
	Load, Rate, RateInterval, Mbit, P50, P99, Max, CPU, CPUInterval, Server, Client string

	Errors uint64
	Bar    template.HTML
}

type fact struct{ Name, Value string }

// A whyLine is the server's side of a cell.
type whyLine struct {
	Name    string
	Columns []string
}

// A figureGroup is some charts that share their legend.
type figureGroup struct {
	Title  string
	Legend []legendEntry
	Charts []titledChart
}

type legendEntry struct {
	Swatch template.HTML
	Label  string
}

type titledChart struct {
	Title string
	SVG   template.HTML
}

func newPage(d *bench.Document) *page {
	p := &page{Style: template.CSS(pageStyle), Document: d, Title: strings.Join(d.Command, " ")}
	if p.Title == "" {
		p.Title = "weighstone"
	}
	p.Where = where(&d.Environment)
	p.compare(d.Comparisons)
	all := allSeries(d.Cells)
	p.Ladders = ladderGroups(ladders(all))
	p.Details = detailGroups(all)
	p.cells(d.Cells)
	p.why(d.Cells)
	p.Controls = controls(d)
	p.Environment = facts(&d.Environment)
	return p
}

// where says in a line what no figure can be read without.
func where(e *bench.Environment) string {
	var parts []string
	if n := e.Facts["network"]; n != "" {
		parts = append(parts, "over "+n)
	}
	if e.Cores > 0 {
		parts = append(parts, plural(e.Cores, "core"))
	}
	for _, s := range []string{e.CPU, e.Kernel, e.Container} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " \u00b7 ")
}

func (p *page) compare(all []bench.Comparison) {
	var ratios chart.Ratios
	rows := make([]chart.Ratio, len(all))
	for i := range all {
		c := &all[i]
		rows[i] = chart.Ratio{Value: orNaN(c.Ratio), Lo: orNaN(c.Lo), Hi: orNaN(c.Hi), Published: orNaN(c.Published)}
		ratios.Add(rows[i])
	}
	for i := range all {
		c := &all[i]
		row := comparisonRow{Comparison: *c, Unit: unit(c.Metric), RatioText: number(c.Ratio, significant), PublishedText: number(c.Published, significant), PText: number(c.P, decimals(3)), Circumstances: circumstances(c)}
		if c.Lo != nil && c.Hi != nil {
			row.Interval = fmt.Sprintf("[%s, %s]", significant(*c.Lo), significant(*c.Hi))
		}
		spoken := *c
		spoken.Source = "" // has a place of its own
		row.Conclusion = conclusion(&spoken)
		if c.Agrees != nil {
			row.Judgement = map[bool]string{true: "agrees", false: "contradicts"}[*c.Agrees]
		}
		rows[i].Title = strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Name, row.RatioText, row.Interval))
		if c.Published != nil {
			rows[i].Title += ", published " + row.PublishedText
		}
		row.Strip = ratios.SVG(rows[i])
		p.Comparisons = append(p.Comparisons, row)
	}
	if len(all) > 0 {
		p.RatioAxis = ratios.Axis(short)
	}
}

// orNaN is *v, or not a number.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (p *page) cells(all []bench.Cell) {
	most := 0.
	for i := range all {
		if m := all[i].Metrics.RequestsPerS; m != nil {
			for _, v := range []*float64{m.Median, m.Hi} {
				if v != nil {
					most = max(most, *v)
				}
			}
		}
	}
	for i := range all {
		c := &all[i]
		m := &c.Metrics
		row := cellRow{
			Cell: c, Load: loadWords(c),
			Rate: median(m.RequestsPerS, thousands), RateInterval: interval(m.RequestsPerS, thousands), Mbit: median(m.ThroughputMbitS, significant),
			P50: median(m.LatencyMS.P50, significant), P99: median(m.LatencyMS.P99, significant), Max: median(m.LatencyMS.Max, significant),
			CPU: median(m.ServerCPUMicros, significant), CPUInterval: interval(m.ServerCPUMicros, significant),
			Server: median(m.ServerCPUPercent, whole), Client: median(m.ClientCPUPercent, whole), Errors: m.Errors.Total(),
		}
		if r := m.RequestsPerS; r != nil && r.Median != nil {
			row.Bar = chart.Bar(*r.Median, orNaN(r.Lo), orNaN(r.Hi), most, strings.TrimSpace(row.Rate+" "+row.RateInterval))
		}
		p.Cells = append(p.Cells, row)
	}
}

func (p *page) why(all []bench.Cell) {
	for _, h := range why {
		p.WhyHeading = append(p.WhyHeading, strings.ReplaceAll(strings.TrimPrefix(h, ">"), "us/", "\u00b5s/"))
	}
	for i := range all {
		c := &all[i]
		if row := whyRow(c); row != nil {
			p.Why = append(p.Why, whyLine{cellName(c), row})
		}
		if text := syscalls(c.Syscalls); text != "" {
			p.Calls = append(p.Calls, fact{cellName(c), text})
		}
	}
}

func facts(e *bench.Environment) []fact {
	all := []fact{
		{"kernel", e.Kernel}, {"processor", e.CPU}, {"cores", fmt.Sprint(e.Cores)}, {"clock", e.Clock}, {"go", e.Go}, {"build", e.Build},
		{"fixtures", e.Fixtures}, {"load average", e.Load}, {"container", e.Container},
	}
	for _, m := range []map[string]string{e.Facts, e.Sysctls} {
		for _, name := range sortedKeys(m) {
			all = append(all, fact{name, m[name]})
		}
	}
	kept := all[:0]
	for _, f := range all {
		if f.Value != "" {
			kept = append(kept, f)
		}
	}
	return kept
}
