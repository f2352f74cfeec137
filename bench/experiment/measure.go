package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/internal/proc"
)

// measure makes one run of a cell. The error says that the run is worth
// nothing and, where the server is to blame, what it said last.
func (l *lab) measure(ctx context.Context, c *cell) (run roundRun, err error) {
	if c.program != nil {
		run.Run, err = c.program.measure(ctx, l, c.load.duration)
		return run, err
	}
	base, err := l.up(ctx, c.subject)
	if err != nil {
		return run, err
	}
	p, err := c.plan(base)
	if err != nil {
		return run, err
	}
	w := &window{subject: c.subject, serverCPUs: l.serverCPUs, clientCPUs: l.clientCPUs}
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
		return run, died
	}
	if err != nil {
		return run, err
	}
	if limited.Err() != nil {
		return run, fmt.Errorf("the run did not end in time: %w", limited.Err())
	}
	run.Run = figures(result)
	if result.IdleLost > 0 {
		return run, fmt.Errorf("%d of %d idle connections were closed meanwhile", result.IdleLost, result.IdleOpened)
	}
	switch {
	case run.Requests == 0 && result.Bad() == 0:
		return run, errEmpty
	case run.Requests == 0:
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

// errEmpty is for a window that was over before the first reply: a machine
// that stood still, since a server that does would run into the timeout.
var errEmpty = errors.New("no reply came while it was measured")

func offence(r *load.Result) string {
	if r.Offence == nil {
		return "nothing came"
	}
	return r.Offence.String()
}

// A window is what happened beside the load while it was measured.
type window struct {
	subject                subject.Subject
	serverCPUs, clientCPUs []int

	first, last moment
	err         error // of the server's usage
}

// A moment is the state of all clocks.
type moment struct {
	at             time.Time
	used           proc.Usage
	server, client time.Duration // of the cores, for anybody
}

func (w *window) look() (m moment) {
	if w.err == nil {
		m.used, w.err = w.subject.Usage()
	}
	m.at = time.Now()
	// Without these figures nothing is known of others, and nothing said.
	m.server, _ = proc.CoreTime(w.serverCPUs)
	m.client, _ = proc.CoreTime(w.clientCPUs)
	return m
}

func (w *window) begin() { w.first = w.look() }
func (w *window) end()   { w.last = w.look() }

// addTo adds the server's side to a run. A server that runs elsewhere has
// none.
func (w *window) addTo(r *roundRun) error {
	if errors.Is(w.err, subject.ErrNotHere) {
		return nil
	}
	if w.err != nil {
		return w.err
	}
	elapsed := w.last.at.Sub(w.first.at).Seconds()
	if elapsed <= 0 || r.RequestsPerS == nil || *r.RequestsPerS == 0 {
		return nil
	}
	// Both are shares of a second, so it does not matter that the two windows
	// may differ by some milliseconds.
	busy := w.last.used.Sub(w.first.used).CPU.Seconds() / elapsed
	r.ServerCPUPercent = bench.Number(100 * busy)
	r.ServerCPUMicros = bench.Number(1e6 * busy / *r.RequestsPerS)
	others := func(core time.Duration, own *float64) float64 {
		if own == nil {
			return 0
		}
		return max(0, 100*core.Seconds()/elapsed-*own)
	}
	if !slices.Equal(w.serverCPUs, w.clientCPUs) {
		r.crowding.server = others(w.last.server-w.first.server, r.ServerCPUPercent)
		r.crowding.client = others(w.last.client-w.first.client, r.ClientCPUPercent)
	}
	return nil
}

// figures are the client's side of a run.
func figures(r *load.Result) bench.Run {
	return bench.Run{Figures: r.Figures(), Requests: r.Good(), ElapsedS: r.Elapsed.Seconds()}
}
