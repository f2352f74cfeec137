package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/report"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/bench/subject"
)

// allStudies is the name that stands for every study that can be run.
const allStudies = "studies"

// expand puts the studies in the place of their common name.
func expand(names []string) []string {
	var all []string
	for _, name := range names {
		if name != allStudies {
			all = append(all, name)
			continue
		}
		for _, s := range study.List() {
			if s.Unavailable == "" {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

// check says what can't be done before anything is, and of several experiments
// how long they take together.
func (c *benchRunCmd) check(s *streams, o experiment.Options) error {
	var sum time.Duration
	for _, name := range c.Names {
		o.OutDir = c.dir(name)
		took, err := experiment.Check(name, o)
		if errors.Is(err, experiment.ErrMisuse) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		sum += took
	}
	if len(c.Names) > 1 {
		fmt.Fprintf(s.err, "%d experiments, about %v in all\n", len(c.Names), sum.Round(time.Second))
	}
	return nil
}

// checkPeer says whether a real server can be put beside all that is to be
// made.
func (c *benchRunCmd) checkPeer(name string) error {
	if _, err := subject.FindPeer(name); err != nil {
		return usageError{err}
	}
	for _, e := range c.Names {
		if found, err := experiment.Find(e); err == nil && !found.TakesPeers() {
			return usagef("--subject %s: real servers are started beside those of a study, in floor, connections, fcgi-gateway and peers; beside %s goes NAME=URL", name, e)
		}
	}
	return nil
}

// dir is where an experiment's result is written: a study of several has a
// directory of its own.
func (c *benchRunCmd) dir(name string) string {
	if _, ok := study.Find(name); ok && c.Out != "" && len(c.Names) > 1 {
		return filepath.Join(c.Out, name)
	}
	return c.Out
}

// run makes one experiment, and of a study its reports.
func (c *benchRunCmd) run(ctx context.Context, name string, o experiment.Options, index *studyIndex) (*bench.Document, error) {
	o.OutDir = c.dir(name)
	e, err := experiment.Find(name)
	if err != nil {
		return nil, err
	}
	st, repeats := e.Study(&o)
	doc, err := experiment.Run(ctx, name, o)
	if repeats && doc != nil && o.OutDir != "" {
		err = errors.Join(err, writeStudy(o.OutDir, &st, doc))
		index.add(st, doc)
	}
	return doc, err
}

// writeStudy writes the reports of a study.
func writeStudy(dir string, s *study.Study, d *bench.Document) error {
	return errors.Join(
		writeFile(filepath.Join(dir, "report.html"), func(w io.Writer) error { return report.Study(w, s, d) }),
		writeFile(filepath.Join(dir, "report.md"), func(w io.Writer) error { return report.StudyMarkdown(w, s, d) }),
	)
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// asAB writes a result in ab's form.
func asAB(r *load.Result) (string, error) {
	var b strings.Builder
	err := report.AB(&b, report.ABCompatible, r)
	return b.String(), err
}

// A studyIndex is the page that leads to the reports of several studies.
type studyIndex struct {
	dir     string // where it is written; empty: nowhere
	of      int    // how many experiments were asked for; one needs no page
	entries []report.Entry
}

func (x *studyIndex) add(s study.Study, d *bench.Document) {
	x.entries = append(x.entries, report.Entry{Study: s, Document: d})
}

// lost notes why a study has no report.
func (x *studyIndex) lost(name string, why error) {
	if s, ok := study.Find(name); ok && x.entry(name) == nil {
		x.entries = append(x.entries, report.Entry{Study: s, Why: why.Error()})
	}
}

func (x *studyIndex) entry(name string) *report.Entry {
	i := slices.IndexFunc(x.entries, func(e report.Entry) bool { return e.Study.Name == name })
	if i < 0 {
		return nil
	}
	return &x.entries[i]
}

// write writes the page if several were asked for, with the studies beside
// that could not be run.
func (x *studyIndex) write() error {
	if x.dir == "" || x.of < 2 || len(x.entries) == 0 {
		return nil
	}
	var all []report.Entry
	for _, s := range study.List() {
		if e := x.entry(s.Name); e != nil {
			all = append(all, *e)
		} else if s.Unavailable != "" {
			all = append(all, report.Entry{Study: s, Why: s.Unavailable})
		}
	}
	return writeFile(filepath.Join(x.dir, "index.html"), func(w io.Writer) error { return report.Index(w, all) })
}
