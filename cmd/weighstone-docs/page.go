package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/report"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/servers"
)

// A page is one variant's or study's, as it is and as it should be.
type page struct {
	path     string
	old, new string
}

// eachPage makes each variant's page, and each study's, and hands it to do.
func eachPage(docs string, do func(*page) error) error {
	results, err := readAll(filepath.Join(docs, resultsDir))
	if err != nil {
		return err
	}
	for _, v := range servers.All() {
		p, err := makePage(docs, v.Name, results)
		if err != nil {
			return err
		}
		if err := do(p); err != nil {
			return err
		}
	}
	for _, s := range study.List() {
		if s.Unavailable != "" {
			continue
		}
		p, err := makeStudyPage(docs, s.Name, results)
		if err != nil {
			return err
		}
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

// makeStudyPage fills the page of a study with its committed run.
func makeStudyPage(docs, name string, results []*bench.Document) (*page, error) {
	p := &page{path: filepath.Join(docs, studiesDir, name+".md")}
	old, err := os.ReadFile(p.path)
	if err != nil {
		return nil, fmt.Errorf("the study %s has no page: %w", name, err)
	}
	p.old = string(old)
	text, err := exampleRun(results, name)
	if err == nil {
		p.new, err = fill(p.old, "example run", text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return p, nil
}

// exampleRun is what came of a study in the first result that has it.
func exampleRun(results []*bench.Document, name string) (string, error) {
	for _, d := range results {
		if d.Name != name || d.Study == nil {
			continue
		}
		var b strings.Builder
		e := &d.Environment
		fmt.Fprintf(&b, "`%s`, %s, on %s, %d cores, %s; the verdict of the runs is %s.\n\n",
			strings.Join(d.Command, " "), cmp.Or(e.Facts["date"], "at no known date"), e.CPU, e.Cores, e.Kernel, d.Verdict)
		err := report.Conclusions(&b, d)
		return b.String(), err
	}
	return "Not yet run on a quiet machine: no committed result has this study.\n", nil
}

func makePage(docs, variant string, results []*bench.Document) (*page, error) {
	p := &page{path: filepath.Join(docs, pagesDir, variant+".md")}
	old, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the variant %s has no page: %w", variant, err)
	}
	if err != nil {
		return nil, err
	}
	calls, err := os.ReadFile(filepath.Join(docs, callsDir, variant+".txt"))
	if err != nil {
		return nil, err
	}
	p.old = string(old)
	p.new, err = fill(p.old, "calls", blocks(string(calls)))
	if err == nil {
		p.new, err = fill(p.new, "figures", figures(results, variant))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return p, nil
}

// fill puts text between the marks of a part, which are HTML comments.
func fill(page, part, text string) (string, error) {
	begin, end := "<!-- "+part+" -->\n", "<!-- end of "+part+" -->\n"
	before, rest, found := strings.Cut(page, begin)
	if !found {
		return "", fmt.Errorf("no %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no %q", strings.TrimSpace(end))
	}
	return before + begin + text + end + after, nil
}

// blocks makes of a capture a block of code for each of its parts.
func blocks(calls string) string {
	head, parts, _ := strings.Cut(calls, "\n\n== ")
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`. The Go runtime's housekeeping is left out; letters are threads.\n", strings.TrimPrefix(head, "# "))
	for part := range strings.SplitSeq(parts, "\n\n== ") {
		title, text, _ := strings.Cut(part, "\n")
		fmt.Fprintf(&b, "\nOn a %s:\n\n```\n%s\n```\n", title, strings.TrimSpace(text))
	}
	return b.String()
}
