package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

// TestStudyFiles: several studies have a directory each, with their reports,
// and a page that leads to them and names what could not be run.
func TestStudyFiles(t *testing.T) {
	c := benchRunCmd{Names: expand([]string{allStudies}), Out: t.TempDir()}
	if len(c.Names) < 3 {
		t.Fatalf("studies: %q", c.Names)
	}
	index := &studyIndex{dir: c.Out, of: len(c.Names)}
	for _, name := range c.Names {
		s, ok := study.Find(name)
		if !ok {
			t.Fatalf("no study %q", name)
		}
		d := &bench.Document{Schema: bench.Schema, Name: name, Verdict: bench.Valid}
		d.Study = s.Judge(d)
		dir := c.dir(name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeStudy(dir, &s, d); err != nil {
			t.Fatal(err)
		}
		index.add(s, d)
		for _, file := range []string{"report.html", "report.md"} {
			text, err := os.ReadFile(filepath.Join(c.Out, name, file))
			if err != nil || !strings.Contains(string(text), "The study claimed: ") {
				t.Errorf("%s of %s: %v", file, name, err)
			}
		}
	}
	if err := index.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(c.Out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range study.List() {
		if want := `href="` + s.Name + `/report.html"`; strings.Contains(string(text), want) != (s.Unavailable == "") {
			t.Errorf("the index and %s: unavailable %q", s.Name, s.Unavailable)
		}
	}
	if one := (&benchRunCmd{Names: []string{"ab-2006"}, Out: "x"}); one.dir("ab-2006") != "x" {
		t.Errorf("a study alone is written to %q", one.dir("ab-2006"))
	}
}

// TestStudyLost: a study that could not be run to its report is named in the
// page with the reason, and one that has a report keeps it.
func TestStudyLost(t *testing.T) {
	s, _ := study.Find("ab-2006")
	d := &bench.Document{Schema: bench.Schema, Name: s.Name, Verdict: bench.Valid}
	d.Study = s.Judge(d)
	index := &studyIndex{dir: t.TempDir(), of: 2}
	index.add(s, d)
	index.lost(s.Name, errors.New("it ended early"))
	index.lost("webstone-1997", errors.New("there is no database"))
	if err := index.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(index.dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for want, there := range map[string]bool{`href="ab-2006/report.html"`: true, "Not run: there is no database": true, "it ended early": false, `href="webstone-1997/report.html"`: false} {
		if strings.Contains(string(text), want) != there {
			t.Errorf("%q in the index: want %v", want, there)
		}
	}
}
