package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
)

// Run makes the experiment of a name. It returns a document whenever anything
// was begun, also together with an error: a server that did not come up, died
// or answered something else ends the run there. When ctx ends, what has been
// measured is returned, marked incomplete, without an error.
func Run(ctx context.Context, name string, o Options) (*bench.Document, error) {
	e, err := Find(name)
	if err != nil {
		return nil, err
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	return e.run(ctx, o)
}

// Check says what of the options an experiment can't do, before any time is
// spent: several experiments may share one set of options.
func Check(name string, o Options) error {
	e, err := Find(name)
	if err != nil {
		return err
	}
	if o, err = o.withDefaults(); err != nil {
		return err
	}
	l, err := newLab(o)
	if err == nil {
		defer l.close()
		_, err = e.design(l)
	}
	if err != nil {
		return fmt.Errorf("experiment %s: %w", name, err)
	}
	return nil
}

func (e Experiment) run(ctx context.Context, o Options) (*bench.Document, error) {
	l, err := newLab(o)
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	defer l.close()
	d, err := e.design(l)
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	s := &session{experiment: e, lab: l, design: d, environment: Environment(l.manifest.Digest)}
	err = s.rounds(ctx)
	doc := s.document(err)
	if errors.Is(err, errInterrupted) {
		err = nil
	}
	if o.OutDir != "" {
		err = errors.Join(err, save(doc, o.OutDir, e.Name))
	}
	if err != nil {
		err = fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	return doc, err
}

// errInterrupted says that the user had enough.
var errInterrupted = errors.New("interrupted")

// emptyRuns is how often a run is repeated in which nothing came back.
const emptyRuns = 2

// A session is one run of an experiment.
type session struct {
	experiment  Experiment
	lab         *lab
	design      *design
	environment bench.Environment

	clock    clock
	position int // of the next run among all
	rate     float64
}

// rounds makes all runs; between two rounds every server is started afresh.
func (s *session) rounds(ctx context.Context) error {
	cells := s.design.cells()
	for _, c := range cells {
		s.clock.cost += time.Duration(s.design.runs) * c.took()
	}
	s.clock.begun = time.Now()
	s.tell(StageBegin, "")
	for round := range s.design.runs {
		err := s.round(ctx, round)
		err = errors.Join(err, s.lab.down())
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			return err
		}
	}
	s.tell(StageEnd, "")
	return nil
}

func (s *session) round(ctx context.Context, round int) error {
	order := s.design.order(s.lab.Seed, round)
	if round == 0 { // same work first, then the same clock
		for _, c := range order {
			s.tell(StageProof, c.name)
			if err := s.prove(ctx, c); err != nil {
				return err
			}
		}
	}
	for _, c := range order {
		s.tell(StageRun, c.name)
		run, err := s.lab.measure(ctx, c)
		for again := 0; again < emptyRuns && errors.Is(err, errEmpty) && ctx.Err() == nil; again++ {
			s.lab.Log.Warn("a run is repeated", "cell", c.name, "reason", err)
			run, err = s.lab.measure(ctx, c)
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
		run.round, run.Position = round, s.position
		if err != nil {
			run.Error = err.Error()
		}
		c.runs = append(c.runs, run)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		s.position++
		s.clock.spent += c.took()
		s.rate = 0
		if run.RequestsPerS != nil {
			s.rate = *run.RequestsPerS
		}
	}
	return nil
}

func (s *session) prove(ctx context.Context, c *cell) error {
	if c.subject == nil {
		return nil
	}
	base, err := s.lab.up(ctx, c.subject)
	if err != nil {
		return err
	}
	return s.lab.prove(ctx, c, base)
}

func (s *session) tell(stage Stage, cell string) {
	total := s.design.runs * len(s.design.cells())
	s.lab.Progress(Progress{Experiment: s.experiment.Name, Stage: stage, Done: s.position, Total: total,
		Left: s.clock.left(), Cell: cell, Rate: s.rate})
}

// document puts together what has been measured; failed is why it ended
// early, nil if it did not.
func (s *session) document(failed error) *bench.Document {
	doc := &bench.Document{
		Schema: bench.Schema, Command: s.lab.Command, Environment: s.environment,
		Cells: []bench.Cell{}, Comparisons: []bench.Comparison{}, Verdict: bench.Valid, Reasons: []string{},
	}
	doc.Environment.Facts = s.lab.facts
	verdicts := map[*cell]bench.Verdict{}
	for _, c := range s.design.cells() {
		out := c.document(s.design.runs)
		verdicts[c] = out.Verdict
		doc.Cells = append(doc.Cells, out)
		doc.Verdict = doc.Verdict.Worse(out.Verdict)
		// When the whole ended early, that many cells lack runs says nothing new.
		if out.Verdict != bench.Valid && (failed == nil || out.Verdict != bench.Incomplete) {
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s is %s: %s", c.name, out.Verdict, strings.Join(out.Reasons, "; ")))
		}
	}
	for i := range s.design.compare {
		c := &s.design.compare[i]
		result := c.evaluate(verdicts[c.a], verdicts[c.b])
		doc.Comparisons = append(doc.Comparisons, result)
		if c.same && result.Lo != nil && result.Hi != nil && (*result.Lo > 1 || *result.Hi < 1) {
			doc.Verdict = doc.Verdict.Worse(bench.Noisy)
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s differs in %s by a factor of %.2f to %.2f", c.name, c.metric, *result.Lo, *result.Hi))
		}
	}
	if failed != nil {
		doc.Verdict = doc.Verdict.Worse(bench.Incomplete)
		total := s.design.runs * len(s.design.cells())
		doc.Reasons = append([]string{fmt.Sprintf("ended after %d of %d runs: %v", s.position, total, failed)}, doc.Reasons...)
	}
	doc.Reasons = append(doc.Reasons, s.design.remarks...)
	return doc
}

// document returns the cell as documents have it.
func (c *cell) document(want int) bench.Cell {
	out := bench.Cell{Handler: c.handler, Runs: []bench.Run{}, Load: bench.Load{
		Clients: c.load.clients, Keepalive: c.load.keepalive, Arrival: "closed", Idle: c.load.idle,
	}}
	out.Variant = c.variant()
	if c.load.planName != "" {
		out.Load.Plan = &c.load.planName
	}
	for i := range c.runs {
		out.Runs = append(out.Runs, c.runs[i].Run)
	}
	out.Metrics = summarise(out.Runs)
	j := c.judge(&out.Metrics, want)
	out.Verdict, out.Reasons = j.verdict, append([]string{}, j.reasons...)
	return out
}

func (c *cell) variant() string {
	if c.program != nil {
		return c.program.name
	}
	return c.subject.Name()
}

// save writes a document as DIR/NAME.json; it appears whole or not at all.
func save(doc *bench.Document, dir, name string) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	temp, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	defer os.Remove(temp.Name()) // gone after a successful rename
	_, err = temp.Write(append(b, '\n'))
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, name+".json"))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
