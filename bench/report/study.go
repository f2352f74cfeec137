package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

//go:embed study.tmpl
var studySource string

// A studyPage is what came of a study in the words of its report, HTML or
// Markdown.
type studyPage struct {
	Style       template.CSS
	Study       *study.Study
	Document    *bench.Document
	Where       string
	Conclusions []conclusionLine
	Standins    []standin
	Tables      []grid
	Beside      *grid // what the study did not run, or not so
	Charts      []figureGroup
	LeftOut     string // of the charts
	Transcripts []bench.Transcript
	Environment []fact
}

type conclusionLine struct {
	Text, Judgement, Class, Value, Want, Published, Margin, Figure string
}

type standin struct{ Published, Variant, Flags, Why string }

// A grid is a table with its title.
type grid struct {
	Title   string
	Heading []string
	Rows    [][]string
}

// Study writes the report of a study as one page of HTML, which needs nothing
// else.
func Study(w io.Writer, s *study.Study, d *bench.Document) error {
	t, err := template.New("page").Parse(pageSource)
	if err == nil {
		t, err = t.New("study").Parse(studySource)
	}
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, newStudyPage(s, d))
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func newStudyPage(s *study.Study, d *bench.Document) *studyPage {
	p := &studyPage{Style: template.CSS(pageStyle), Study: s, Document: d, Where: where(&d.Environment), Environment: facts(&d.Environment)}
	if d.Study != nil {
		for i := range d.Study.Conclusions {
			p.Conclusions = append(p.Conclusions, concluded(&d.Study.Conclusions[i]))
		}
		p.Transcripts = d.Study.Transcripts
	}
	for i := range s.Servers {
		v := &s.Servers[i]
		out := standin{v.Published, v.Variant, strings.Join(v.Flags, " "), v.Why}
		switch {
		case v.Changes != "":
			out.Published, out.Why = "(changed)", v.Change
		case v.Peer != "":
			out.Published, out.Variant = v.Peer, v.Label()
		case v.Published == "":
			out.Published = "(beside)"
		}
		p.Standins = append(p.Standins, out)
	}
	for i := range s.Tables {
		p.Tables = append(p.Tables, studyGrid(s, d, &s.Tables[i]))
	}
	p.Beside = besideGrid(s, d)
	p.charts(s, d)
	return p
}

func concluded(c *bench.Conclusion) conclusionLine {
	out := conclusionLine{Text: c.Text, Judgement: "can't be judged", Value: study.Interval(c), Want: c.Want,
		Published: number(c.Published, significant), Margin: c.Margin, Figure: c.Figure}
	switch {
	case c.Holds == nil:
		out.Margin = c.Reason
	case *c.Holds:
		out.Judgement, out.Class = "holds", "agrees"
	default:
		out.Judgement, out.Class = "does not hold", "contradicts"
	}
	return out
}

// studyGrid is a table of the study with both figures in each place: measured,
// with the interval, and the published one in parentheses.
func studyGrid(s *study.Study, d *bench.Document, t *study.Table) grid {
	out := grid{Title: fmt.Sprintf("Table %s. %s", t.Number, t.Title), Heading: []string{"clients"}}
	row := func(label, server string, clients int) {
		cells := []string{label}
		for _, c := range t.Columns {
			cells = append(cells, bothFigures(s, d, study.Point{Server: server, Load: c.Load, Clients: clients}, c))
		}
		out.Rows = append(out.Rows, cells)
	}
	for _, key := range t.Servers {
		label := key
		if v := s.Server(key); v != nil {
			label = v.Label()
		}
		row(label, key, t.Clients)
	}
	for _, p := range t.Points {
		if load := t.Columns[0].Load; s.Find(d, study.Point{Server: p.Server, Load: load, Clients: p.Clients}) != nil || len(s.Published[p]) > 0 {
			row(s.Server(p.Server).Label(), p.Server, p.Clients)
		}
	}
	var of []study.Series
	for _, c := range t.Columns {
		out.Heading = append(out.Heading, c.Label)
		of = append(of, study.Series{Server: t.Server, Load: c.Load})
	}
	if len(t.Servers)+len(t.Points) > 0 {
		out.Heading[0] = "server"
		return out
	}
	out.Title += ": " + s.Server(t.Server).Label()
	for _, clients := range s.Clients(d, of...) {
		row(fmt.Sprint(clients), t.Server, clients)
	}
	return out
}

// bothFigures is what was measured at a point, and what was published.
func bothFigures(s *study.Study, d *bench.Document, p study.Point, c study.Column) string {
	as, m := decimals(c.Digits), s.At(d, p, c.Metric)
	text := strings.TrimSpace(median(m, as) + " " + interval(m, as))
	if v, ok := s.Published.At(p, c.Metric); ok {
		text += " (" + as(v) + ")"
	}
	return text
}

// besideGrid are the points of servers that have no table of their own:
// changed ones, and those that the user put beside.
func besideGrid(s *study.Study, d *bench.Document) *grid {
	out := &grid{Title: "What was run beside, without published figures",
		Heading: []string{"server", "load", "clients", "requests/s", "replies a second of server CPU", "response time, s", "errors/s"}}
	for i := range s.Servers {
		v := &s.Servers[i]
		if slices.ContainsFunc(s.Tables, func(t study.Table) bool {
			return t.Server == v.Key || slices.Contains(t.Servers, v.Key) || t.Has(v.Key)
		}) {
			continue
		}
		for _, u := range s.Units(d.Design != nil && d.Design.Quick) {
			for _, p := range u {
				if p.Server != v.Key || s.Find(d, p) == nil {
					continue
				}
				cell := func(m study.Metric, as func(float64) string) string {
					at := s.At(d, p, m)
					return strings.TrimSpace(median(at, as) + " " + interval(at, as))
				}
				out.Rows = append(out.Rows, []string{v.Label(), s.Load(p.Load).Label, fmt.Sprint(p.Clients),
					cell(study.Connections, significant), cell(study.Capacity, significant), cell(study.Response, decimals(4)), cell(study.Errors, significant)})
			}
		}
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}
