package study

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

// runnable are the studies that can be run.
func runnable(t *testing.T) []Study {
	t.Helper()
	var all []Study
	for _, s := range List() {
		if s.Unavailable == "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		t.Fatal("no study can be run")
	}
	return all
}

// TestStudiesAreWhole: what a study names is there, its cells are told apart,
// a quick look has at most 16 of them, and they are among those of the whole.
func TestStudiesAreWhole(t *testing.T) {
	for _, s := range List() {
		if s.Name == "" || s.Title == "" || s.Cite == "" || s.Question == "" {
			t.Errorf("%q says too little of itself", s.Name)
		}
	}
	for _, s := range runnable(t) {
		if s.Claimed == "" || s.Held == "" || s.NotRepeated == "" || len(s.Claims) == 0 || len(s.Tables) == 0 || len(s.Published) == 0 && !tells(&s) {
			t.Errorf("%s is not complete", s.Name)
		}
		full := cells(t, &s, s.Full)
		quick := cells(t, &s, s.Quick)
		if len(quick) == 0 || len(quick) > 16 {
			t.Errorf("%s: a quick look has %d cells", s.Name, len(quick))
		}
		for name := range quick {
			if !full[name] {
				t.Errorf("%s: only a quick look has %q", s.Name, name)
			}
		}
		for _, table := range s.Tables {
			for _, key := range append(table.Servers, table.Server) {
				if s.Server(key) == nil && (key != "" || len(table.Servers)+len(table.Points) == 0) {
					t.Errorf("%s: table %s is of %q", s.Name, table.Number, key)
				}
			}
			for _, p := range table.Points {
				if s.Server(p.Server) == nil {
					t.Errorf("%s: table %s has a row of %q", s.Name, table.Number, p.Server)
				}
			}
			for _, c := range table.Columns {
				if s.Load(c.Load) == nil {
					t.Errorf("%s: table %s has load %q", s.Name, table.Number, c.Load)
				}
			}
		}
	}
}

func cells(t *testing.T, s *Study, units []Unit) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for _, u := range units {
		for _, p := range u {
			if s.Server(p.Server) == nil || s.Load(p.Load) == nil || p.Clients < 1 {
				t.Errorf("%s: point %+v", s.Name, p)
			}
			if name := s.Cell(p); seen[name] {
				t.Errorf("%s: twice %q", s.Name, name)
			} else {
				seen[name] = true
			}
		}
	}
	return seen
}

// rows reads a table afresh.
func rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open("../published/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		all = append(all, row)
	}
	return all
}

// size is how many figures a study has.
func size(f Figures) (n int) {
	for _, m := range f {
		n += len(m)
	}
	return n
}

func integer(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// same reports a figure that is not that of the table.
func same(t *testing.T, s *Study, p Point, m Metric, text string) {
	t.Helper()
	want, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Published.At(p, m); !ok || got != want {
		t.Errorf("%s: %s of %+v is %v, %v; the table has %s", s.Name, m, p, got, ok, text)
	}
	if !slices.ContainsFunc(s.Tables, func(t Table) bool { return t.Shows(p, m) }) {
		t.Errorf("%s: no table shows the %s of %+v", s.Name, m, p)
	}
}

func TestPublished1996(t *testing.T) {
	s := webstone1996()
	all := rows(t, "webstone-1996-shiloh")
	if len(all) != 608 || size(s.Published) != 608 {
		t.Fatalf("%d rows, %d figures", len(all), size(s.Published))
	}
	for _, r := range all {
		load := map[string]string{"html": "static", "api": r["mix"] + "-api", "cgi": r["mix"] + "-cgi"}[r["mechanism"]]
		p := Point{r["server"], load, integer(t, r["clients"])}
		same(t, &s, p, Metric(r["metric"]), r["value"])
	}
}

// TestPublished2001: each row of the study's is a row of a table, with its
// figures, and no other figure is there.
func TestPublished2001(t *testing.T) {
	s := specweb2001()
	all := rows(t, "specweb99-2001")
	figures := 0
	for _, r := range all {
		p := point2001(r)
		if !slices.ContainsFunc(s.Tables, func(t Table) bool { return slices.Contains(t.Points, p) }) {
			t.Errorf("no table has the row %v", r)
		}
		if r["attempted"] != "" && p.Clients != integer(t, r["attempted"]) {
			t.Errorf("%+v: the table has %s attempted", p, r["attempted"])
		}
		for _, m := range []Metric{Attempted, Conforming, PerProcessor} {
			if r[string(m)] != "" {
				figures++
				same(t, &s, p, m, r[string(m)])
			}
		}
		held, passed := s.Published.At(p, Held)
		if passed != (r["accepted"] == "yes" || r["accepted"] == "passed") || passed && held != s.Published[p][Conforming] {
			t.Errorf("%+v: %v held, %v; the table says %q", p, held, passed, r["accepted"])
		}
	}
	held := 0
	for _, f := range s.Published {
		if _, ok := f[Held]; ok {
			held++
		}
	}
	if len(all) != 15 || size(s.Published)-held != figures {
		t.Errorf("%d rows, %d figures of %d", len(all), size(s.Published)-held, figures)
	}
}

// TestHeld: what a server held is the most of its loads that passed, of each
// repetition; loads that were not run do not count.
func TestHeld(t *testing.T) {
	s := specweb2001()
	doc := &bench.Document{Environment: bench.Environment{}}
	add := func(p Point, processors int, conforming ...int) {
		c := bench.Cell{Name: s.Cell(p), Verdict: bench.Valid, Load: bench.Load{Clients: p.Clients}}
		for _, n := range conforming {
			c.Runs = append(c.Runs, bench.Run{Specweb: &bench.Specweb{Connections: p.Clients, Conforming: n, Passed: n*100 >= 95*p.Clients, Processors: processors, Posts: 1000}})
		}
		doc.Cells = append(doc.Cells, c)
	}
	add(Point{"zeus-1", "paced", 20}, 1, 20, 20, 20, 19, 20, 20)
	add(Point{"zeus-1", "paced", 240}, 1, 100, 90, 101, 99, 100, 100)
	add(Point{"cache-1", "paced", 20}, 1, 20, 20, 20, 20, 20, 20)
	add(Point{"cache-1", "paced", 80}, 1, 80, 80, 79, 80, 80, 80)
	add(Point{"bounded", "paced", passes2001}, 1, 20, 20, 20, 20, 20, 20)
	add(Point{"bounded", "paced", fails2001}, 1, 10, 9, 0, 11, 12, 10)
	m := measured{&s, doc}
	if v := s.Claims[0].Figure.value(m); v.Unknown != "" || v.Median < 3.9 || v.Median > 4.1 || v.N != 6 {
		t.Errorf("the cache: %+v", v)
	}
	if v := s.Claims[1].Figure.value(m); v.Unknown == "" {
		t.Errorf("four processors were not run: %+v", v)
	}
	for i, want := range map[int]bool{0: true, 4: true, 5: true} {
		if out := s.judge(&s.Claims[i], m); out.Holds == nil || *out.Holds != want {
			t.Errorf("%s: %+v", out.Text, out)
		}
	}
	cheat := Point{"cheat", "integrity", clients2001}
	add(cheat, 1, 1, 1)
	for i := range doc.Cells[len(doc.Cells)-1].Runs {
		doc.Cells[len(doc.Cells)-1].Runs[i].Specweb.Duplicated = 3
	}
	if v := (Broken{cheat}).value(m); v.Median != .003 {
		t.Errorf("the cheat: %+v", v)
	}
}

// TestPublishedConclusions: what a study concludes, its own tables bear out,
// wherever they have the figure; else the statement would not be the study's.
func TestPublishedConclusions(t *testing.T) {
	judged := map[string]int{}
	for _, s := range runnable(t) {
		for i := range s.Claims {
			c := &s.Claims[i]
			if v := c.Figure.value(tables{&s}); v.Unknown != "" {
				continue
			}
			judged[s.Name]++
			if out := s.judge(c, tables{&s}); out.Holds == nil || !*out.Holds {
				t.Errorf("%s: by the study's own tables %q does not hold: %+v", s.Name, c.Text, out)
			}
		}
	}
	for _, s := range runnable(t) {
		if judged[s.Name] < 3 {
			t.Errorf("%s: its tables bear out %d conclusions only", s.Name, judged[s.Name])
		}
	}
}

// The ratios that the study of 1996 itself names.
func TestAdvantages1996(t *testing.T) {
	s := webstone1996()
	for i, want := range map[int]float64{0: 4.5, 1: 2.7, 2: 3.5} {
		if v := s.Claims[i].Figure.value(tables{&s}); math.Abs(v.Median-want) > .2 {
			t.Errorf("%s: %v, want %v", s.Claims[i].Text, v.Median, want)
		}
	}
}

func TestFind(t *testing.T) {
	if s, ok := Find("webstone-1996"); !ok || s.Name != "webstone-1996" {
		t.Errorf("%q, %v", s.Name, ok)
	}
	if _, ok := Find("webstone-1896"); ok {
		t.Error("a study that nobody made")
	}
}

// TestWith puts a server of ours, and one elsewhere that has files alone,
// beside a study's own.
func TestWith(t *testing.T) {
	s := webstone1996()
	before := len(cells(t, &s, s.Quick))
	grown := s.With(Server{Key: "own epoll", Variant: "epoll"}, Server{Key: "remote x", Variant: "x", Remote: "http://127.0.0.1:1"})
	after := cells(t, &grown, grown.Quick)
	if !after["epoll, heavy by CGI, 128 clients"] || !after["x, static, 32 clients"] || after["x, heavy by API, 32 clients"] {
		t.Errorf("%d cells, then %v", before, after)
	}
	if len(cells(t, &s, s.Quick)) != before {
		t.Error("the study itself has changed")
	}
	ab := ab2006()
	if same := ab.With(Server{Key: "peer yaws", Peer: "yaws"}); len(same.Servers) != len(ab.Servers) || len(same.Full[0]) != len(ab.Full[0]) {
		t.Error("a real server is in the study twice")
	}
}

func TestPublished1997(t *testing.T) {
	s := webstone1997()
	all := rows(t, "webstone-1997-mindcraft-ladder")
	n := 0
	for _, r := range all {
		p := Point{r["server"], r["source"], integer(t, r["clients"])}
		for _, m := range []Metric{Connections, Throughput, Latency, Errors} {
			if r[string(m)] != "" {
				same(t, &s, p, m, r[string(m)])
				n++
			}
		}
	}
	if len(all) != 26 || n != size(s.Published) || n < 26*2 {
		t.Errorf("%d rows with %d figures, of which the study has %d", len(all), n, size(s.Published))
	}
	for _, r := range rows(t, "webstone-1997-mindcraft") {
		if !strings.Contains(strings.Join(s.Notes, " "), r["fact"]+" ("+r["server"]+") "+r["value"]+" "+r["unit"]) {
			t.Errorf("no note has %v", r)
		}
	}
}

func TestPublished2006(t *testing.T) {
	s := ab2006()
	all := rows(t, "ab-2006")
	n := 0
	for _, r := range all {
		for _, column := range []string{"server", "requests", "concurrency", "document_bytes"} {
			if r[column] == "" {
				t.Fatalf("no %s in %v", column, r)
			}
		}
		p := Point{r["server"], r["requests"], integer(t, r["concurrency"])}
		for column, text := range r {
			switch column {
			case "server", "requests", "concurrency", "document_bytes":
			default:
				same(t, &s, p, Metric(column), text)
				n++
			}
		}
	}
	// One is from the study's text.
	if len(all) != 8 || n != 8*16 || size(s.Published) != n+1 {
		t.Errorf("%d rows with %d figures, of which the study has %d", len(all), n, size(s.Published))
	}
}

// tells says whether a study's text tells the size of a figure.
func tells(s *Study) bool {
	return slices.ContainsFunc(s.Claims, func(c Claim) bool { _, ok := c.Figure.(Told); return ok })
}

// TestPublished2005: each cell of both tables stands in the notes, every row
// of the claims is a conclusion with its figures, and every test is a load.
func TestPublished2005(t *testing.T) {
	s := litespeed2005()
	notes := strings.Join(s.Notes, "\n")
	cells := 0
	for _, name := range []string{"litespeed-2005", "litespeed-2005-tests"} {
		for _, r := range rows(t, name) {
			for column, text := range r {
				if text == "" {
					continue
				}
				cells++
				if !strings.Contains(notes, strings.ReplaceAll(column, "_", " ")+" "+text) {
					t.Errorf("no note has the %s %q of %v", column, text, r)
				}
			}
		}
	}
	if cells != 96 {
		t.Errorf("%d cells", cells)
	}
	for _, r := range rows(t, "litespeed-2005") {
		number := func(column string) float64 {
			if r[column] == "" {
				return 0
			}
			v, err := strconv.ParseFloat(r[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if !slices.ContainsFunc(s.Claims, func(c Claim) bool {
			told, ok := c.Figure.(Told)
			return ok && told.Claim == r["claim"] && told.Lo == number("low_ratio") && told.Hi == number("high_ratio")
		}) {
			t.Errorf("no conclusion is %v", r)
		}
	}
	for _, r := range rows(t, "litespeed-2005-tests") {
		l := s.Load(r["test"])
		if l == nil || l.Label == "" || l.Keepalive != (r["keepalive"] == "yes") {
			t.Errorf("the test %q is the load %+v", r["test"], l)
		}
	}
}

// TestBestOfThree: the best of three flatters a noisy server, and what a text
// tells without a size has none.
func TestBestOfThree(t *testing.T) {
	s := litespeed2005()
	p := Point{litespeed, "static-keepalive", clients2005}
	rates := func(all ...float64) *bench.Document {
		c := bench.Cell{Name: s.Cell(p)}
		for _, v := range all {
			c.Runs = append(c.Runs, bench.Run{Figures: bench.Figures[float64]{RequestsPerS: bench.Number(v)}})
		}
		return &bench.Document{Cells: []bench.Cell{c}}
	}
	doc := rates(100, 110, 90, 95, 105, 200)
	if m := s.At(doc, p, BestOfThree); m == nil || m.Median == nil || *m.Median != 110 {
		t.Errorf("the best of the first three is %+v", m)
	}
	if v := (Flattery{Requests, p, 3}).value(measured{&s, doc}); v.Unknown != "" || v.Median < 1.05 || v.Hi < 1.9 || v.Lo < 1 {
		t.Errorf("a noisy server: %+v", v)
	}
	if v := (Flattery{Requests, p, 3}).value(measured{&s, rates(100, 100, 100, 100, 100, 100)}); v.Median != 1 || v.Hi != 1 {
		t.Errorf("a steady server: %+v", v)
	}
	if v := (Flattery{Requests, p, 3}).value(measured{&s, rates(1, 2, 3)}); v.Unknown == "" {
		t.Errorf("three runs alone: %+v", v)
	}
	told := Told{Level{Requests, p}, "x", 1, 0}
	if out := s.judge(&Claim{"more", told, Range{Lo: 1}}, measured{&s, doc}); out.Published != nil || out.Value == nil {
		t.Errorf("more than 1, no figure given: %+v", out)
	}
	told.Hi = 4
	if out := s.judge(&Claim{"more", told, Range{Lo: 1}}, measured{&s, doc}); out.Published == nil || *out.Published != 2 || *out.Value < 100 {
		t.Errorf("1 to 4 times: %+v", out)
	}
}

// TestPercentiles: all that the study of 2006 published are found in a run's
// distribution.
func TestPercentiles(t *testing.T) {
	r := &bench.Run{Client: &bench.Client{Spectrum: []bench.Point{{Q: .5, MS: 2}, {Q: .66, MS: 3}, {Q: .99, MS: 7}, {Q: 1, MS: 9}}}}
	for m, want := range map[Metric]float64{"p50_ms": 2, "p66_ms": 3, "p99_ms": 7} {
		if got := m.of(r, 1); got == nil || *got != want {
			t.Errorf("%s: %v, want %v", m, got, want)
		}
	}
	for _, m := range []Metric{"p75_ms", "pages", "p50", "50_ms"} {
		if got := m.of(r, 1); got != nil {
			t.Errorf("%s: %v", m, *got)
		}
	}
}
