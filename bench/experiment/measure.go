package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/stat"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/bench/tally"
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
	if c.style != nil {
		limited, cancel := context.WithTimeout(ctx, 2*c.took()+time.Minute)
		defer cancel()
		return c.iterate(limited, l, base, &window{subject: c.subject, serverCPUs: c.serverCPUs, clientCPUs: c.clientCPUs})
	}
	p, err := c.plan(base)
	if err != nil {
		return run, err
	}
	if err := l.askFirst(ctx, c, base); err != nil {
		return run, err
	}
	w := &window{subject: c.subject, serverCPUs: l.serverCPUs, clientCPUs: l.clientCPUs}
	if err := c.emptyLog(); err != nil {
		return run, err
	}
	if !l.countless[c.subject] {
		_, counts := waitsOf(ctx, base)
		l.countless[c.subject] = !counts
	}
	if !l.countless[c.subject] && c.load.pause == 0 {
		w.counts = newCounting(ctx, base)
		defer w.counts.wait()
	}
	limited, cancel := context.WithTimeout(ctx, c.took()+time.Minute)
	defer cancel()
	unpause, err := c.stopFor()
	if err != nil {
		return run, err
	}
	defer unpause()
	config := load.Config{
		URL: base, Plan: p,
		Clients: c.load.clients, Idle: c.load.idle, Keepalive: c.load.keepalive, HTTP10: c.load.http10,
		Heads: c.load.heads, Warmup: c.load.warmup, Duration: c.load.duration, Timeout: l.patience,
		Arrival: c.load.arrival,
		Workers: len(l.clientCPUs), CPUs: l.clientCPUs,
		Begin: w.begin, End: w.end,
	}
	if c.load.patience > 0 {
		config.Timeout = c.load.patience
	}
	if c.load.requests > 0 {
		config.Requests, config.Duration = c.load.requests, 0
	}
	result, err := load.Run(limited, config)
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
	if l.AB != nil && c.asAB() {
		text, err := l.AB(result)
		if err != nil {
			return run, err
		}
		c.transcripts = []bench.Transcript{{Cell: c.name, Tool: "our generator in ab's form, the last run", Text: text}}
	}
	if l.LinkMbit > 0 && run.ThroughputMbitS != nil {
		run.NetworkPercent = bench.Number(100 * *run.ThroughputMbitS / l.LinkMbit)
	}
	run.settle(result, c.load.warmup, c.load.duration)
	if result.IdleLost > 0 {
		return run, fmt.Errorf("%d of %d idle connections were closed meanwhile", result.IdleLost, result.IdleOpened)
	}
	switch {
	case run.Requests == 0 && result.Bad() == 0:
		return run, fmt.Errorf("%w: %s%s", errEmpty, offence(result), said(c.subject))
	case run.Requests == 0 && !c.load.limited:
		return run, fmt.Errorf("not one good reply: %s%s", offence(result), said(c.subject))
	}
	if result.Tally.Faults.Wrong() > 0 {
		l.Log.Warn("a reply was wrong", "cell", c.name, "first", offence(result))
	}
	if err := w.addTo(&run, result); err != nil {
		return run, err
	}
	if run.Server != nil {
		if f, ok := l.firsts[c]; ok {
			f.addTo(run.Server, w.last.used)
		}
		run.Server.EventsPerWait = w.counts.perWait()
	}
	return run, nil
}

// said is what a server that lives has said last, as the end of an error
// message.
func said(s subject.Subject) string {
	lines := s.Said()
	if len(lines) == 0 {
		return ""
	}
	return "; the server's last lines were:\n\t" + strings.Join(lines, "\n\t")
}

// steadyRate is how many replies each step of the series must have on average
// before its ups and downs are taken for more than chance.
const steadyRate = 30

// settle says how long the warm-up was that was dropped, and when the rate had
// settled by the series of each 100 ms.
func (r *roundRun) settle(result *load.Result, warmup, duration time.Duration) {
	r.WarmupS = warmup.Seconds()
	steps := min(len(result.Tally.Series), int((warmup+duration)/tally.SeriesStep))
	series, sum := make([]float64, steps), 0.0
	for i := range series {
		series[i] = float64(result.Tally.Series[i])
		sum += series[i]
	}
	if steps == 0 || sum < steadyRate*float64(steps) || result.Config.Arrival.Open() {
		return
	}
	n, settled := stat.Settled(series)
	if settled {
		r.SettledS = bench.Number((time.Duration(n) * tally.SeriesStep).Seconds())
	}
	r.unsettled = !settled
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
	counts      *counting
}

// A moment is the state of all clocks.
type moment struct {
	at             time.Time
	used           proc.Usage
	server, client time.Duration // of the cores, for anybody
	steal          time.Duration // of all cores of both
	stopped        time.Duration // by limits on CPU
	hot            uint64
}

func (w *window) look() (m moment) {
	if w.err == nil {
		m.used, w.err = w.subject.Usage()
	}
	m.at = time.Now()
	// Without these figures nothing is known of others, and nothing said.
	m.server, _ = proc.CoreTime(w.serverCPUs)
	m.client, _ = proc.CoreTime(w.clientCPUs)
	m.steal, _ = proc.Steal(w.cores())
	m.stopped, m.hot, _ = proc.Throttled()
	return m
}

// cores are those of both sides, each once.
func (w *window) cores() []int {
	all := slices.Concat(w.serverCPUs, w.clientCPUs)
	slices.Sort(all)
	return slices.Compact(all)
}

func (w *window) begin() {
	w.first = w.look()
	w.counts.look(0)
}

func (w *window) end() {
	w.last = w.look()
	w.counts.look(1)
}

// addTo adds the server's side to a run, and what disturbed both. A server
// that runs elsewhere has none.
func (w *window) addTo(r *roundRun, result *load.Result) error {
	elapsed := w.last.at.Sub(w.first.at).Seconds()
	if elapsed > 0 {
		r.StealPercent = 100 * (w.last.steal - w.first.steal).Seconds() / elapsed / float64(len(w.cores()))
		r.ThrottledPercent = 100 * (w.last.stopped - w.first.stopped).Seconds() / elapsed
		r.hot = w.last.hot > w.first.hot
	}
	if subject.Unknown(w.err) {
		return nil
	}
	if w.err != nil {
		return w.err
	}
	if elapsed <= 0 || r.RequestsPerS == nil || *r.RequestsPerS == 0 {
		return nil
	}
	// Both are shares of a second, so it does not matter that the two windows
	// may differ by some milliseconds.
	used := w.last.used.Sub(w.first.used)
	busy := used.CPU.Seconds() / elapsed
	r.ServerCPUPercent = bench.Number(100 * busy)
	r.ServerCPUMicros = bench.Number(1e6 * busy / *r.RequestsPerS)
	window := uint64(*r.RequestsPerS*elapsed + 0.5)
	perReply := float64(result.Tally.BytesIn) / float64(max(1, result.Good()+result.Bad()))
	r.Server = explain(used, *r.ServerCPUMicros, window, int64(perReply*float64(window)))
	others := func(core time.Duration, own *float64) float64 {
		if own == nil {
			return 0
		}
		return max(0, 100*core.Seconds()/elapsed-*own)
	}
	if !slices.Equal(w.serverCPUs, w.clientCPUs) {
		r.crowding.server = others(w.last.server-w.first.server, r.ServerCPUPercent)
		r.crowding.client = others(w.last.client-w.first.client, r.ClientCPUPercent)
		r.OthersPercent = r.crowding.server
	}
	return nil
}

// figures are the client's side of a run.
func figures(r *load.Result) bench.Run {
	return bench.Run{Figures: r.Figures(), Requests: r.Good(), ElapsedS: r.Elapsed.Seconds(), Client: r.Client()}
}
