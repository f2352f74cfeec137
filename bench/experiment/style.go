package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/specweb"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/fixtures"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/proc"
)

// The fixed parts of the SPECweb99-style workload in a study.
const (
	styleUsers  = 10_000
	stylePerRun = 500 * time.Millisecond // beside the measured stretch: a reset, each operation once, the log
	perPost     = 2 * time.Millisecond   // with the other 19 of 20 requests, about
)

// styleCell is a cell whose load is the SPECweb99-style workload.
func (l *lab) styleCell(s *study.Study, p study.Point, on *studied, duration time.Duration) (*cell, error) {
	server, asked := s.Server(p.Server), s.Load(p.Load)
	if err := l.ensureSet(asked.Style.Dirs); err != nil {
		return nil, err
	}
	file := rules.Prefix + rules.File{Dir: asked.Style.Dirs - 1}.Path()
	c := &cell{
		name: s.Cell(p), handler: asked.Label, subject: on.subject, claims: claimCPU, style: asked.Style, processors: server.Processors,
		serverCPUs: on.serverCPUs, clientCPUs: on.clientCPUs,
		load: setting{clients: p.Clients, keepalive: true, planName: rules.Style, limited: server.Limited,
			warmup: duration / 4, duration: duration},
		proofs: []proof{{file, rules.Style + " " + file}},
	}
	if asked.Style.Posts > 0 {
		c.load.warmup = 0
	}
	if l.Tiny {
		few := *c.style
		few.Posts = min(few.Posts, 50)
		c.style = &few
		c.load.clients = min(c.load.clients, 10)
	}
	return c, nil
}

// ensureSet adds the workload's files to the fixtures if they are not there.
func (l *lab) ensureSet(dirs int) error {
	if rules.Dirs(l.Fixtures) >= dirs {
		return nil
	}
	return rules.NewSet(fixtures.Seed).Write(l.Fixtures, dirs, fixtures.Modified())
}

// iterate makes one run of such a cell.
func (c *cell) iterate(ctx context.Context, l *lab, base string, w *window) (run roundRun, err error) {
	config := specweb.Config{
		URL: base, Connections: c.load.clients, Dirs: c.style.Dirs, LineRate: c.style.LineRate, Posts: c.style.Posts,
		Warmup: c.load.warmup, Duration: c.load.duration, Iterations: 1, Users: styleUsers, Seed: l.Seed + uint64(len(c.runs)),
		Timeout: l.patience, Workers: len(w.clientCPUs), CPUs: w.clientCPUs, Content: rules.NewSet(fixtures.Seed),
		Begin: w.begin, End: w.end, Build: build(),
	}
	if _, err := c.subject.Usage(); !subject.Unknown(err) {
		config.Usage = func() (proc.Usage, error) { return c.subject.Usage() }
	}
	result, err := specweb.Run(ctx, config)
	if died := c.subject.Died(); died != nil {
		return run, died
	}
	if err != nil {
		return run, err
	}
	it := &result.Iterations[0]
	if c.knobs == nil {
		c.knobs = result.Knobs()
	}
	run.Run = it.Run(&config)
	run.Specweb.Processors = c.processors
	if it.Interrupted {
		return run, fmt.Errorf("the run did not end in time: %w", context.Cause(ctx))
	}
	return run, w.addTo(&run, it.Load)
}

// judgeStyle says what a cell of that workload can be used for. That its load
// does not conform is a result; that the server lost its integrity is one for a
// server that is there to lose it.
func (c *cell) judgeStyle(j *judgement) {
	failed := false
	for i := range c.runs {
		failed = failed || c.runs[i].Specweb != nil && !c.runs[i].Specweb.Passed
	}
	if busy, ok := c.clientBusy(); ok && busy > busyClient && failed && c.style.LineRate > 0 {
		j.add(bench.ClientBound, "not all runs passed, and the client used %.0f %% of the CPU it was given, over %d %%: the server may hold more", busy, busyClient)
	}
	for i := range c.runs {
		r := c.runs[i].Specweb
		switch {
		case r == nil || r.Broken() == 0:
		case c.load.limited:
			j.add(bench.Valid, "the server broke its integrity, which is what it is here for: %s", r.Why)
			return
		default:
			j.add(bench.RepliesWrong, "the server broke its integrity: %s", r.Why)
			return
		}
	}
}

// coresFor returns the cores of a server of n loops and of its client, false if
// there are too few for both.
func coresFor(all []int, n int) (server, client []int, enough bool) {
	if n < 2 {
		server, client = split(all)
		return server, client, true
	}
	if len(all) < n+1 {
		return nil, nil, false
	}
	return all[:n], all[n : n+1], true
}

// Style puts the results of the SPECweb99-style workload into a document: a
// cell for each load, a run for each iteration. name is the server's.
func Style(command []string, name string, facts []subject.Fact, results ...*specweb.Result) *bench.Document {
	doc := &bench.Document{
		Schema: bench.Schema, Command: command, Environment: Environment(fixtures.Expected().Digest), Name: "specweb99-style",
		Cells: []bench.Cell{}, Comparisons: []bench.Comparison{}, Verdict: bench.Valid, Reasons: []string{},
	}
	for _, f := range facts {
		doc.Environment.Facts[name+"."+f.Name] = f.Value
	}
	for i, r := range results {
		c := styled(name, i, r)
		doc.Cells = append(doc.Cells, c)
		doc.Verdict = doc.Verdict.Worse(c.Verdict)
		if c.Verdict != bench.Valid {
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s: %s", c.Name, strings.Join(c.Reasons, "; ")))
		}
	}
	return doc
}

// styled is a result as the n-th cell of a document.
func styled(name string, n int, r *specweb.Result) bench.Cell {
	c := &r.Config
	plan := rules.Style
	cell := bench.Cell{
		Variant: name, Handler: rules.Prefix, Name: fmt.Sprintf("%s, load %d: %d connections", name, n+1, c.Connections),
		Load:    bench.Load{Clients: c.Connections, Keepalive: true, Arrival: c.Arrival.String(), Plan: &plan},
		Verdict: bench.Valid, Reasons: []string{},
	}
	if c.Arrival.Open() {
		cell.Load.Rate = bench.Number(c.Arrival.Rate)
	}
	for i := range r.Iterations {
		run := r.Iterations[i].Run(c)
		run.Position = i
		cell.Runs = append(cell.Runs, run)
	}
	cell.Metrics = summarise(cell.Runs)
	cell.Knobs = r.Knobs()
	switch i := slices.IndexFunc(r.Iterations, func(it specweb.Iteration) bool { return !it.Whole() }); {
	case i >= 0:
		cell.Verdict, cell.Reasons = bench.RepliesWrong, []string{r.Iterations[i].Why()}
	case !r.Complete():
		cell.Verdict, cell.Reasons = bench.Incomplete, []string{"interrupted"}
	case !r.Conforms():
		cell.Reasons = []string{r.Verdict()}
		if busy := 100 * r.ClientBusy(); busy > busyClient && c.LineRate > 0 {
			cell.Verdict = bench.ClientBound
			cell.Reasons = append(cell.Reasons, fmt.Sprintf("the client used %.0f %% of the CPU it was given, over %d %%: the server may hold more", busy, busyClient))
		}
	}
	return cell
}
