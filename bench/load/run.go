package load

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/tally"
	"github.com/weighstone/weighstone/internal/sys"
)

// A run is what all workers of one Run share: read-only but for the atomics.
type run struct {
	config  Config
	server  netip.AddrPort
	host    string
	sources []netip.Addr
	ports   Ports
	start   time.Time
	lessons lessons
	budget  budget
	stopped atomic.Bool
	workers []*worker

	collector *collector
}

// startIn is how far ahead the start of a run is, so that its threads are
// there by then and the first requests are not late.
const startIn = 5 * time.Millisecond

// Run carries a plan to a server and returns what came of it. A server that
// refuses, resets or answers wrongly makes no error: that is in the result. An
// error says that the run could not begin as asked. When ctx ends, the run
// does too, and its result is marked incomplete.
func Run(ctx context.Context, config Config) (*Result, error) {
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	limit, err := sys.RaiseNoFile()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if need := uint64(r.config.Clients + r.config.ConnectAhead + r.config.Idle + 64); limit < need {
		return nil, fmt.Errorf("load: %d clients, %d connections ahead and %d idle ones need about %d descriptors, the limit is %d", r.config.Clients, r.config.ConnectAhead, r.config.Idle, need, limit)
	}
	idle, err := openIdle(ctx, r)
	defer idle.close()
	if err != nil {
		return nil, err
	}
	for id := range r.config.Workers {
		w, err := newWorker(r, id)
		if err != nil {
			r.close()
			return nil, err
		}
		r.workers = append(r.workers, w)
	}
	defer r.close()
	if err := r.carry(ctx, idle); err != nil {
		return nil, err
	}
	return r.result(r.stopped.Load(), idle), nil
}

func newRun(config Config) (*run, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{config: c, lessons: make(lessons, len(c.Plan.Classes()))}
	if r.server, r.host, err = c.resolve(); err != nil {
		return nil, err
	}
	if err := checkSources(c.Sources, r.server.Addr()); err != nil {
		return nil, err
	}
	r.sources, r.ports = c.pickSources(r.server.Addr()), readPorts()
	r.budget.workers = int64(c.Workers)
	r.budget.left.Store(int64(min(c.Requests, math.MaxInt64)))
	return r, nil
}

func (r *run) close() {
	for _, w := range r.workers {
		w.close()
	}
}

// carry starts the workers and waits for them.
func (r *run) carry(ctx context.Context, idle *idle) error {
	woken := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(woken)
		r.stopped.Store(true)
		for _, w := range r.workers {
			sys.Wake(w.wakefd)
		}
	})
	defer func() {
		if !unregister() {
			<-woken // or it might wake a descriptor that is another's by then
		}
	}()
	ended := make(chan error, len(r.workers))
	// A worker that wakes must not wait for the collector to leave a processor.
	before := runtime.GOMAXPROCS(0)
	if enough := len(r.workers) + 2; before < enough {
		runtime.GOMAXPROCS(enough)
		defer runtime.GOMAXPROCS(before)
	}
	r.start = time.Now().Add(startIn)
	r.collector = newCollector(r.start, tally.New(r.workers[0].tally.Config), r.config.Log)
	for i, w := range r.workers {
		core := -1
		if n := len(r.config.CPUs); n > 0 {
			core = r.config.CPUs[i%n]
		}
		go func() { ended <- w.live(core) }()
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	collect := time.NewTicker(turnEach / 4)
	defer collect.Stop()
	edges := r.edges()
	defer edges.stop()
	var err error
	for left := len(r.workers); left > 0; {
		select {
		case e := <-ended:
			left--
			if e != nil {
				err = e
				r.stopped.Store(true)
			}
		case <-edges.begin.C:
			edges.begun(&r.config)
		case <-edges.end:
			edges.ended(&r.config)
		case <-collect.C:
			r.collector.look(r.workers)
		case <-tick.C:
			idle.look()
			r.tell()
		}
	}
	edges.ended(&r.config)
	r.collector.last(r.workers)
	return err
}

// live runs the loop on a thread of its own.
func (w *worker) live(core int) error {
	runtime.LockOSThread()
	sys.SetTimerSlack(1)
	defer sys.SetTimerSlack(0)
	if core >= 0 {
		// The goroutine ends without unlocking, and its pinned thread with it.
		if err := sys.PinThread(core); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	} else {
		defer runtime.UnlockOSThread()
	}
	w.loop()
	return nil
}

func (r *run) tell() {
	if r.config.Progress == nil {
		return
	}
	p := Progress{Elapsed: time.Since(r.start)}
	p.Warmup = p.Elapsed < r.config.Warmup
	for _, w := range r.workers {
		p.Good += w.progress.good.Load()
		p.Faulty += w.progress.faulty.Load()
	}
	p.Left = r.left(&p)
	r.config.Progress(p)
}

// left is how long the run still takes, by the clock or by how fast its
// requests have gone.
func (r *run) left(p *Progress) time.Duration {
	c := &r.config
	var left time.Duration
	if c.Duration > 0 {
		left = c.Warmup + c.Duration - p.Elapsed
	}
	if done := p.Good + p.Faulty; c.Requests > done && done > 0 {
		byCount := time.Duration(float64(p.Elapsed) / float64(done) * float64(c.Requests-done))
		if c.Duration == 0 || byCount < left {
			left = byCount
		}
	}
	return max(left, 0)
}

// result merges what the workers have counted.
func (r *run) result(interrupted bool, idle *idle) *Result {
	res := &Result{Config: r.config, Start: r.start, Network: network(r.server.Addr()), Interrupted: interrupted, Classes: r.config.Plan.Classes()}
	res.Tally, res.Seconds, res.LogError = r.collector.total, r.collector.seconds, r.collector.err
	var counts counts
	for _, w := range r.workers {
		res.Tally.Merge(w.tally)
		counts.add(&w.counts)
		res.CPUUser += w.cpu.user
		res.CPUSystem += w.cpu.system
		res.CPUGiven += w.cpu.given
		res.CPUWaited += w.cpu.waited
		if res.Software == "" {
			res.Software = w.software
		}
		if o := w.offence; o != nil && (res.Offence == nil || o.At < res.Offence.At) {
			res.Offence = o
		}
	}
	res.Connections, res.Stale, res.Stray = counts.connections, counts.stale, counts.stray
	res.ClosedByServer, res.ClosedByClient = counts.closedByServer, counts.closedByClient
	res.Dropped, res.NoPort, res.Ports = counts.dropped, counts.noPort, r.ports
	res.Sources = int(min(uint64(max(len(r.sources), 1)), counts.dials))
	res.MostPerSource = (counts.dials + uint64(res.Sources) - 1) / uint64(max(res.Sources, 1))
	res.Kept, res.Sent = counts.kept, counts.sent
	res.Unfinished, res.Waits, res.Events = counts.unfinished, counts.waits, counts.events
	idle.look()
	res.IdleOpened, res.IdleLost = idle.opened(), idle.lost
	res.Elapsed = r.elapsed(res.Tally, interrupted)
	return res
}

// elapsed is the length of the measured window: it ends with the last of a
// number of requests, but if fewer than that were due in the duration, with it.
func (r *run) elapsed(t *tally.Tally, interrupted bool) time.Duration {
	c := &r.config
	window := c.Duration
	all := c.Requests > 0 && t.Faults[bench.FaultNone]+t.Faults.Total() >= c.Requests
	if c.Duration == 0 || interrupted || all {
		end := t.Last
		if interrupted {
			end = r.workers[0].now
		}
		window = end - c.Warmup
		if c.Duration > 0 {
			window = min(window, c.Duration)
		}
	}
	return max(window, 0)
}
