package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

// TestQuickStudies repeats two studies at quick size as a user does, with real
// servers beside, and looks whether the reports are whole and every conclusion
// was judged. How fast anything was is not asked. It measures for some three
// minutes on both cores, so that it runs alone: make test-studies.
func TestQuickStudies(t *testing.T) {
	if os.Getenv("WEIGHSTONE_STUDIES") == "" {
		t.Skip("make test-studies runs it, and so does .ci/run")
	}
	names := []string{"webstone-1997", "ab-2006"}
	dir := t.TempDir()
	args := append([]string{"bench"}, names...)
	args = append(args, "--quick", "--subject", "nginx", "--fixtures", built.fixtures, "--out", dir)
	cmd := exec.CommandContext(t.Context(), built.program, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "2 experiments, about ") {
		t.Errorf("no estimate in\n%s", out)
	}
	index := text(t, dir, "index.html")
	for _, name := range names {
		if !strings.Contains(index, `href="`+name+`/report.html"`) {
			t.Errorf("the index does not lead to %s", name)
		}
		s, _ := study.Find(name)
		s = s.With(study.Server{Key: "peer nginx", Peer: "nginx"})
		doc := new(bench.Document)
		if err := json.Unmarshal([]byte(text(t, dir, name, "result.json")), doc); err != nil {
			t.Fatal(err)
		}
		wholeDocument(t, &s, doc)
		wholeReports(t, &s, doc, filepath.Join(dir, name))
	}
}

// wholeDocument: every point was run on every server, and every conclusion is
// judged, or says why it can't be: for want of a point only of a whole run's.
func wholeDocument(t *testing.T, s *study.Study, doc *bench.Document) {
	t.Helper()
	var peers []string
	for _, u := range s.Quick {
		for _, p := range u {
			c := s.Find(doc, p)
			if c == nil || len(c.Runs) == 0 {
				t.Errorf("%s: %q was not run: %q", s.Name, s.Cell(p), doc.Reasons)
				continue
			}
			if peer := s.Server(p.Server).Peer; peer != "" && !slices.Contains(peers, peer) {
				peers = append(peers, peer)
			}
		}
	}
	if !slices.Contains(peers, "nginx") || s.Name == "ab-2006" && !(slices.Contains(peers, "apache-prefork") && slices.Contains(peers, "lighttpd")) {
		t.Errorf("%s: of the real servers there were %q", s.Name, peers)
	}
	if doc.Study == nil || len(doc.Study.Summary) != 3 || len(doc.Study.Conclusions) != len(s.Claims) {
		t.Fatalf("%s: %+v", s.Name, doc.Study)
	}
	whole := onlyWhole(s)
	for _, c := range doc.Study.Conclusions {
		cell, notRun := strings.CutSuffix(c.Reason, " was not run")
		if c.Holds == nil && c.Reason == "" || notRun && !whole[cell] || c.N == 0 && !notRun {
			t.Errorf("%s: %+v", s.Name, c)
		}
	}
}

// wholeReports: all three openings, tables, charts and conclusions are there,
// as HTML and as Markdown.
func wholeReports(t *testing.T, s *study.Study, doc *bench.Document, dir string) {
	t.Helper()
	page, plain := text(t, dir, "report.html"), text(t, dir, "report.md")
	if n := strings.Count(page, "<svg"); n < len(s.Charts) {
		t.Errorf("%s: %d charts, want %d", s.Name, n, len(s.Charts))
	}
	for _, table := range s.Tables {
		for name, in := range map[string]string{"report.html": page, "report.md": plain} {
			if !strings.Contains(in, "Table "+table.Number) {
				t.Errorf("%s: no table %s in %s", s.Name, table.Number, name)
			}
		}
	}
	for _, c := range doc.Study.Conclusions {
		if !strings.Contains(plain, c.Text) {
			t.Errorf("%s: no conclusion %q in report.md", s.Name, c.Text)
		}
	}
	for _, sentence := range doc.Study.Summary {
		if !strings.Contains(plain, sentence) {
			t.Errorf("%s: no %q in report.md", s.Name, sentence)
		}
	}
}

func text(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
