package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/report"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/servers"
)

type benchCmd struct {
	Run     benchRunCmd     `cmd:"" default:"withargs" help:"Make experiments."`
	List    benchListCmd    `cmd:"" help:"List the experiments."`
	Compare benchCompareCmd `cmd:"" help:"Compare two results: OLD.json NEW.json."`
	Specweb benchSpecwebCmd `cmd:"" name:"specweb99-style" help:"Judge how many connections a server holds at line speed, and its integrity, under a SPECweb99-style workload."`
}

type benchRunCmd struct {
	Names    []string `arg:"" name:"name" help:"Experiments and studies; see weighstone bench list. studies: all of those."`
	Quick    bool     `help:"Fewer and shorter runs."`
	Out      string   `placeholder:"DIR" help:"Write each result as DIR/NAME.json too, and of a study report.html, report.md and result.json."`
	Variants []string `placeholder:"A,B" help:"These servers of ours instead of the experiment's choice, or beside those of a study."`
	Subject  []string `sep:"none" placeholder:"NAME[=URL]" help:"A server that runs already, beside ours; or by its name alone a real one (see weighstone peers), beside those of a study, or instead of all that floor, connections, fcgi-gateway and peers have."`
	Output   string   `short:"o" enum:"text,json,csv,html,gobench,webstone" default:"text" help:"text, json, csv, html, gobench (for benchstat) or webstone."`
	LinkMbit float64  `placeholder:"N" help:"The speed of the network, to say what share of it was used."`
	Fixtures string   `placeholder:"DIR" help:"The content; by default in the user's cache."`
	Seed     uint64   `default:"1" help:"Of the order of runs."`
}

// Run makes the experiments one after the other and reports each at once.
func (c *benchRunCmd) Run(s *streams) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	if err := c.check(s, o); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	clear := func() {}
	if f, ok := s.err.(*os.File); ok {
		p := report.NewProgress(f)
		o.Progress, clear = p.Show, p.Clear
	}
	failed, out := false, &documents{w: s.out, format: c.Output}
	index := &studyIndex{dir: c.Out, of: len(c.Names)}
	var broken []error
	for _, name := range c.Names {
		doc, err := c.run(ctx, name, o, index)
		clear()
		if doc != nil {
			if werr := out.add(doc); werr != nil {
				return werr
			}
			failed = failed || doc.Verdict.Failed()
		}
		if ctx.Err() != nil {
			return errors.Join(errors.New("interrupted"), err, out.end(), index.write())
		}
		if err != nil { // which is no reason to lose the others
			index.lost(name, err)
			broken = append(broken, err)
		}
	}
	if err := errors.Join(append(broken, out.end(), index.write())...); err != nil {
		return err
	}
	if failed {
		return errSilent
	}
	return nil
}

// options checks the names before anything is started.
func (c *benchRunCmd) options(s *streams) (experiment.Options, error) {
	o := experiment.Options{
		Quick: c.Quick, Variants: c.Variants, Fixtures: c.Fixtures, OutDir: c.Out,
		Refused: refused(), AB: asAB,
		Seed: c.Seed, LinkMbit: c.LinkMbit, Command: s.args, Log: s.log(),
	}
	if c.LinkMbit < 0 {
		return o, usagef("--link-mbit: expected a number above 0, but got %v", c.LinkMbit)
	}
	c.Names = expand(c.Names)
	for _, name := range c.Names {
		if _, err := experiment.Find(name); err != nil {
			return o, usageError{err}
		}
	}
	for _, name := range c.Variants {
		if _, err := servers.Find(name); err != nil {
			return o, usageError{err}
		}
	}
	for _, pair := range c.Subject {
		name, url, found := strings.Cut(pair, "=")
		if !found {
			if err := c.checkPeer(name); err != nil {
				return o, err
			}
			o.Peers = append(o.Peers, name)
			continue
		}
		if name == "" {
			return o, usagef("--subject: expected NAME=URL, but got %q", pair)
		}
		if _, err := subject.NewRemote(name, url, subject.Probe{}); err != nil {
			return o, usagef("--subject: %w", err)
		}
		o.Subjects = append(o.Subjects, experiment.Remote{Name: name, URL: url})
	}
	self, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program: %w", err)
	}
	o.Binary = self
	o.FloorDir = filepath.Join(filepath.Dir(self), "floor")
	o.CGIDir = filepath.Join(filepath.Dir(self), "cgi")
	return o, nil
}

type benchListCmd struct {
	JSON bool `name:"json" help:"As JSON."`
}

// Run lists the experiments.
func (c *benchListCmd) Run(s *streams) error {
	type row struct {
		Name        string `json:"name"`
		Question    string `json:"question"`
		Held        string `json:"held"`
		NotRepeated string `json:"not_repeated"`
		Study       bool   `json:"study"`
		Unavailable string `json:"unavailable,omitempty"`
	}
	rows := []row{}
	for _, e := range append(experiment.List(), styleExperiment()) {
		_, repeats := e.Study(&experiment.Options{})
		rows = append(rows, row{e.Name, e.Question, e.Held, e.NotRepeated, repeats, e.Unavailable})
	}
	if c.JSON {
		return writeJSON(s.out, rows)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		text := r.Question
		if r.Unavailable != "" {
			text += " (unavailable: " + r.Unavailable + ")"
		}
		fmt.Fprintf(w, "%s\t%s\n", r.Name, text)
	}
	return w.Flush()
}

// refused says of the variants that can't run here why not.
func refused() map[string]string {
	reasons := map[string]string{}
	for _, v := range servers.All() {
		if err := v.Runs(); err != nil {
			reasons[v.Name] = err.Error()
		}
	}
	return reasons
}
