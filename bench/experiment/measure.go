package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/internal/proc"
)

// measure makes one run of a cell. The error says that the run is worth
// nothing and, where the server is to blame, what it said last.
func (l *lab) measure(ctx context.Context, c *cell) (bench.Run, error) {
	if c.program != nil {
		return c.program.measure(ctx, l, c.load.duration)
	}
	base, err := l.up(ctx, c.subject)
	if err != nil {
		return bench.Run{}, err
	}
	p, err := c.plan(base)
	if err != nil {
		return bench.Run{}, err
	}
	w := &window{subject: c.subject}
	limited, cancel := context.WithTimeout(ctx, c.took()+time.Minute)
	defer cancel()
	result, err := load.Run(limited, load.Config{
		URL: base, Plan: p,
		Clients: c.load.clients, Idle: c.load.idle, Keepalive: c.load.keepalive, HTTP10: c.load.http10,
		Heads: c.load.heads, Warmup: c.load.warmup, Duration: c.load.duration, Timeout: replyTimeout,
		Workers: len(l.clientCPUs), CPUs: l.clientCPUs,
		Begin: w.begin, End: w.end,
	})
	if died := c.subject.Died(); died != nil {
		return bench.Run{}, died
	}
	if err != nil {
		return bench.Run{}, err
	}
	if limited.Err() != nil {
		return bench.Run{}, fmt.Errorf("the run did not end in time: %w", limited.Err())
	}
	run := figures(result)
	if result.IdleLost > 0 {
		return run, fmt.Errorf("%d of %d idle connections were closed meanwhile", result.IdleLost, result.IdleOpened)
	}
	if run.Requests == 0 {
		return run, fmt.Errorf("not one good reply: %s", offence(result))
	}
	if result.Tally.Faults.Wrong() > 0 {
		l.Log.Warn("a reply was wrong", "cell", c.name, "first", offence(result))
	}
	return run, w.addTo(&run)
}

// replyTimeout is how long a reply may take: far longer than any does here,
// and short enough that a server that hangs is not waited for.
const replyTimeout = 10 * time.Second

func offence(r *load.Result) string {
	if r.Offence == nil {
		return "nothing came"
	}
	return r.Offence.String()
}

// A window is what the server used while the load was measured.
type window struct {
	subject      subject.Subject
	begun, ended time.Time
	first, last  proc.Usage
	err          error
}

func (w *window) begin() {
	w.first, w.err = w.subject.Usage()
	w.begun = time.Now()
}

func (w *window) end() {
	if w.err == nil {
		w.last, w.err = w.subject.Usage()
	}
	w.ended = time.Now()
}

// addTo adds the server's side to a run. A server that runs elsewhere has
// none.
func (w *window) addTo(r *bench.Run) error {
	if errors.Is(w.err, subject.ErrNotHere) {
		return nil
	}
	if w.err != nil {
		return w.err
	}
	elapsed := w.ended.Sub(w.begun).Seconds()
	if elapsed <= 0 || r.RequestsPerS == nil || *r.RequestsPerS == 0 {
		return nil
	}
	// Both are shares of a second, so it does not matter that the two windows
	// may differ by some milliseconds.
	busy := w.last.Sub(w.first).CPU.Seconds() / elapsed
	r.ServerCPUPercent = bench.Number(100 * busy)
	r.ServerCPUMicros = bench.Number(1e6 * busy / *r.RequestsPerS)
	return nil
}

// figures are the client's side of a run.
func figures(r *load.Result) bench.Run {
	return bench.Run{Figures: r.Figures(), Requests: r.Good(), ElapsedS: r.Elapsed.Seconds()}
}
