package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
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
// spent: several experiments may share one set of options. The time is what it
// would take, about.
func Check(name string, o Options) (time.Duration, error) {
	e, err := Find(name)
	if err != nil {
		return 0, err
	}
	if o, err = o.withDefaults(); err != nil {
		return 0, err
	}
	var d *design
	l, err := newLab(o)
	if err == nil {
		defer l.close()
		d, err = e.design(l)
	}
	if err == nil && !e.bare {
		err = l.control(d)
	}
	if err == nil && o.OutDir != "" {
		err = writable(o.OutDir)
	}
	if err != nil {
		return 0, fmt.Errorf("experiment %s: %w", name, err)
	}
	return (&session{experiment: e, lab: l, design: d}).cost(), nil
}

func (e Experiment) run(ctx context.Context, o Options) (*bench.Document, error) {
	l, err := newLab(o)
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	defer l.close()
	d, err := e.design(l)
	if err == nil && !e.bare {
		err = l.control(d)
	}
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	s := &session{experiment: e, lab: l, design: d, environment: Environment(l.manifest.Digest)}
	err = s.rounds(ctx)
	if err == nil {
		err = s.transcripts(ctx)
	}
	if err == nil && !e.bare && !o.Tiny {
		err = s.traces(ctx)
	}
	if err == nil {
		s.tell(StageEnd, "")
	}
	doc := s.document(err)
	if errors.Is(err, errInterrupted) {
		err = nil
	}
	if o.OutDir != "" {
		err = errors.Join(err, Save(doc, o.OutDir, e.file()))
	}
	if err != nil {
		err = fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	return doc, err
}

// file is what a result's file is called, without ".json": a study has a
// directory of its own.
func (e *Experiment) file() string {
	if e.study != nil {
		return "result"
	}
	return e.Name
}

// errInterrupted says that the user had enough.
var errInterrupted = errors.New("interrupted")

// emptyRuns is how often a run is repeated in which nothing came back, and
// emptyCells how many cells in a row may have such a run to the end.
const (
	emptyRuns  = 2
	emptyCells = 2
)

// A session is one run of an experiment.
type session struct {
	experiment  Experiment
	lab         *lab
	design      *design
	environment bench.Environment

	clock    clock
	position int // of the next run among all
	empty    int // cells in a row of which nothing came back
	rate     float64
}

// rounds makes all runs; between two rounds every server is started afresh.
func (s *session) rounds(ctx context.Context) error {
	s.clock.cost = s.cost()
	s.clock.begun = time.Now()
	s.tell(StageBegin, "")
	for round := range s.design.runs {
		err := s.round(ctx, round)
		if down := s.lab.down(); err == nil { // else it says again how a server died
			err = down
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cost is how long all of it takes, about.
func (s *session) cost() (sum time.Duration) {
	for _, u := range s.design.all() {
		for _, c := range u {
			sum += time.Duration(s.design.runs) * c.took()
			if !s.experiment.bare && c.traced() {
				sum += traceCost
			}
		}
	}
	for c := range s.design.pilots() {
		sum += c.pilotCost()
	}
	return sum + time.Duration(s.design.runs*s.design.realServers())*startTook
}

// startTook is what a real server takes to start and stop, about, which it does
// in each round: 0.6 s an interpreter, 0.1 s a small program.
const startTook = 400 * time.Millisecond

// realServers counts those that are started here.
func (d *design) realServers() int {
	seen := map[subject.Subject]bool{}
	for _, c := range d.cells() {
		if local, ok := c.subject.(*subject.Local); ok && local.Real() {
			seen[local] = true
		}
	}
	return len(seen)
}

func (s *session) round(ctx context.Context, round int) error {
	order := s.design.order(s.lab.Seed, round)
	if round == 0 { // same work first, then the same clock
		for _, c := range order {
			if s.design.left[c.subject] {
				continue
			}
			s.tell(StageProof, c.name)
			err := s.prove(ctx, c)
			if err != nil && ctx.Err() == nil && s.design.leaveOut(c, err) {
				continue
			}
			if err != nil {
				return err
			}
		}
		order = s.design.order(s.lab.Seed, round)
		if len(s.design.pilots()) > 0 || s.design.firsts() {
			// The first round's servers are to be as fresh as the others'.
			if err := errors.Join(s.pilot(ctx), s.lab.down()); err != nil {
				return err
			}
		}
	}
	for _, c := range order {
		s.tell(StageRun, c.name)
		if err := s.timed(ctx, c, round); err != nil {
			return err
		}
		s.position++
		s.clock.spent += c.took()
	}
	return nil
}

// timed makes the run of a cell in a round: again, if nothing came of it, or if
// the rate had not settled when the warm-up was over.
func (s *session) timed(ctx context.Context, c *cell, round int) error {
	for empty := 0; ; {
		run, err := s.lab.measure(ctx, c)
		if ctx.Err() != nil {
			return errInterrupted
		}
		if errors.Is(err, errEmpty) && empty < emptyRuns {
			empty++
			s.lab.Log.Warn("a run is repeated", "cell", c.name, "reason", err)
			continue
		}
		run.round, run.Position = round, s.position
		if err != nil {
			run.Error = err.Error()
		}
		again := err == nil && c.extend(&run)
		c.runs = append(c.runs, run)
		if err != nil {
			// One cell may have met a machine that stood still, or was offered
			// more than its server could do: the others go on.
			if s.empty++; errors.Is(err, errEmpty) && s.empty < emptyCells {
				s.lab.Log.Warn("a run is given up", "cell", c.name, "reason", err)
				return nil
			}
			return fmt.Errorf("%s: %w", c.name, err)
		}
		s.empty = 0
		if s.rate = 0; run.RequestsPerS != nil {
			s.rate = *run.RequestsPerS
		}
		if !again {
			return nil
		}
		s.lab.Log.Debug("a run is repeated", "cell", c.name, "reason", run.Discarded)
	}
}

// longerWarmups is how often a cell's warm-up is made longer.
const longerWarmups = 2

// extend discards a run whose rate settled after the warm-up that was dropped,
// and makes the cell's warm-up as long as that took. It says whether the run is
// to be made again.
func (c *cell) extend(run *roundRun) bool {
	if run.SettledS == nil || *run.SettledS <= run.WarmupS || c.repeated == longerWarmups {
		return false
	}
	run.Discarded = fmt.Sprintf("the rate had settled after %.1f s only, and the warm-up dropped was %.2f s", *run.SettledS, run.WarmupS)
	c.load.warmup = time.Duration(*run.SettledS * float64(time.Second))
	c.repeated++
	return true
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
	total := s.design.timed()
	s.lab.Progress(Progress{Experiment: s.experiment.Name, Stage: stage, Done: s.position, Total: total,
		Left: s.clock.left(), Cell: cell, Rate: s.rate})
}
