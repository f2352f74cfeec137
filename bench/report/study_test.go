package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

// repeated is a document of a study, as if every point of a whole run, or of a
// quick look, had given six times what its name's length says.
func repeated(s *study.Study, quick bool) *bench.Document {
	d := climbed()
	d.Cells, d.Comparisons = nil, nil
	d.Design = &bench.Design{Repetitions: 6, Quick: quick}
	for _, u := range s.Units(quick) {
		for _, p := range u {
			c := bench.Cell{Name: s.Cell(p), Variant: s.Server(p.Server).Label(), Load: bench.Load{Clients: p.Clients}, Verdict: bench.Valid, Reasons: []string{}}
			for k := range 6 {
				r := madeRun(1000+10*float64(len(c.Name))+float64(k), p.Clients, k)
				if v := s.Server(p.Server); s.Load(p.Load).Style != nil {
					r.Specweb = &bench.Specweb{Connections: p.Clients, Conforming: min(p.Clients, 100+k), Passed: p.Clients <= 100, Processors: v.Processors, Posts: 5000}
					if v.Limited {
						r.Specweb.Duplicated = 5
					}
				}
				c.Runs = append(c.Runs, r)
			}
			c.Metrics = madeMetrics(c.Runs)
			d.Cells = append(d.Cells, c)
		}
	}
	d.Study = s.Judge(d)
	d.Study.Transcripts = []bench.Transcript{{Cell: "a cell", Tool: "ab", Text: "Requests per second:  1\n\n<b>"}}
	return d
}

// studies are those that can be run.
func studies() []study.Study {
	var all []study.Study
	for _, s := range study.List() {
		if s.Unavailable == "" {
			all = append(all, s)
		}
	}
	return all
}

var (
	marks = regexp.MustCompile(`(?s)<h([123])>(.*?)</h[123]>|<th(?: [^>]*)?>(.*?)</th>|<tbody>.*?</tbody>|<svg|<pre>`)
	row   = regexp.MustCompile(`<tr`)
)

// structureOfHTML is a page's headings, columns, numbers of rows, and charts.
func structureOfHTML(page string) string {
	var b strings.Builder
	for _, m := range marks.FindAllStringSubmatch(page, -1) {
		switch {
		case m[1] != "":
			fmt.Fprintf(&b, "%s %s\n", strings.Repeat("#", int(m[1][0]-'0')), m[2])
		case m[3] != "":
			fmt.Fprintf(&b, "| %s\n", m[3])
		case strings.HasPrefix(m[0], "<tbody"):
			fmt.Fprintf(&b, "%d rows\n", len(row.FindAllString(m[0], -1)))
		default:
			b.WriteString(m[0][1:] + "\n")
		}
	}
	return b.String()
}

// structureOfMarkdown is the same of Markdown.
func structureOfMarkdown(text string) string {
	var b strings.Builder
	rows, table := 0, false
	for _, line := range strings.Split(text, "\n") {
		switch in := strings.HasPrefix(line, "|"); {
		case in && !table:
			b.WriteString(line + "\n")
			table, rows = true, -1 // below the heading is a line of dashes
		case in:
			rows++
		case table:
			fmt.Fprintf(&b, "%d rows\n", rows)
			table = false
		}
		if strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestStudyStructure(t *testing.T) {
	for _, s := range studies() {
		d := repeated(&s, true)
		var page, text bytes.Buffer
		if err := Study(&page, &s, d); err != nil {
			t.Fatal(err)
		}
		if err := StudyMarkdown(&text, &s, d); err != nil {
			t.Fatal(err)
		}
		goldenBytes(t, "study-"+s.Name+".txt", []byte("HTML\n"+structureOfHTML(page.String())+"\nMarkdown\n"+structureOfMarkdown(text.String())))
		for _, sentence := range d.Study.Summary {
			if at, conclusions := strings.Index(text.String(), markdown(sentence)), strings.Index(text.String(), "## Conclusions"); at < 0 || at > conclusions {
				t.Errorf("%s: the report does not open with %q", s.Name, sentence)
			}
		}
		if strings.Contains(page.String(), "1\n\n<b>") || !strings.Contains(page.String(), "1\n\n&lt;b&gt;") {
			t.Errorf("%s: a transcript is not escaped", s.Name)
		}
	}
}

// TestStudyShowsAllPublished: with all points run, each published figure is in
// the report, and each of the study's charts drawn with both series.
func TestStudyShowsAllPublished(t *testing.T) {
	for _, s := range studies() {
		d := repeated(&s, false)
		var text, page bytes.Buffer
		if err := StudyMarkdown(&text, &s, d); err != nil {
			t.Fatal(err)
		}
		for p, figures := range s.Published {
			for m, v := range figures {
				for i := range s.Tables {
					for _, c := range s.Tables[i].Columns {
						if s.Tables[i].Shows(p, m) && c.Load == p.Load && c.Metric == m && !strings.Contains(text.String(), "("+decimals(c.Digits)(v)+")") {
							t.Errorf("%s: %s of %+v is not shown: %v", s.Name, m, p, v)
						}
					}
				}
			}
		}
		if err := Study(&page, &s, d); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(page.String(), "of its first point</text>"); n != len(s.Charts) {
			t.Errorf("%s: %d of %d charts", s.Name, n, len(s.Charts))
		}
		if len(s.Charts) == 0 {
			continue
		}
		published := len(s.Published) > 0 // of one study no rates are left
		if !strings.Contains(page.String(), ", measured</li>") || strings.Contains(page.String(), ", published</li>") != published {
			t.Errorf("%s: the legends lack a series", s.Name)
		}
	}
}

// TestChartsAreNormalised: each series begins at 1.
func TestChartsAreNormalised(t *testing.T) {
	s, _ := study.Find("webstone-1997")
	svg, legend := drawStudy(&s, repeated(&s, false), &s.Charts[0])
	if len(legend) != 6 {
		t.Errorf("legend: %v", legend)
	}
	if n := strings.Count(string(svg), ", 1.00 of its first point"); n < 6 {
		t.Errorf("%d marks stand at 1", n)
	}
	if !strings.Contains(string(svg), "Netscape Enterprise 2.0.1, published, 8 clients: 474, 1.47 of its first point") {
		t.Errorf("474/323 is not drawn: %s", svg)
	}
}

func TestStudyIndex(t *testing.T) {
	s, _ := study.Find("webstone-1996")
	missing := study.Study{Name: "webstone-1896", Title: "A study", Cite: "nobody"}
	missing.Unavailable = "it was never made"
	var b bytes.Buffer
	if err := Index(&b, []Entry{{Study: s, Document: repeated(&s, true)}, {Study: missing, Why: missing.Unavailable}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="webstone-1996/report.html"`, "The study claimed: ", "Not run: it was never made"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the index lacks %q:\n%s", want, b.String())
		}
	}
}

// TestStudyInChromium opens the widest report in a browser: each chart has its
// marks within its frame, and no text is wider than its place.
func TestStudyInChromium(t *testing.T) {
	chromium := need(t, "chromium")
	s, _ := study.Find("webstone-1996")
	var page bytes.Buffer
	if err := Study(&page, &s, repeated(&s, false)); err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, chromium, page.String(), "--window-size=1280,900")
	if len(p.Overflow) > 0 || len(p.Overlap) > 0 || p.Scripts != 0 {
		t.Errorf("%d px wide: texts overflow: %q, overlap: %q; %d scripts", p.Width, p.Overflow, p.Overlap, p.Scripts)
	}
	lines := 0
	for _, d := range p.Charts {
		if d.Class != "lines" {
			continue
		}
		lines++
		if d.Marks != 4*8 || d.Lines != 4 || d.Outside > 0 {
			t.Errorf("%s: %d marks, %d lines, %d outside", d.Title, d.Marks, d.Lines, d.Outside)
		}
	}
	if lines != len(s.Charts) {
		t.Errorf("%d of %d charts are drawn", lines, len(s.Charts))
	}
}
