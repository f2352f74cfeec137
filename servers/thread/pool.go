package thread

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/flow"
)

// The size of a pool when nothing is said: 32 to 64, the larger of the settings
// with which Netscape's process pool was measured in 1996.
const (
	DefaultWorkers    = 32
	DefaultMaxWorkers = 64
)

// spareTime is how long a pool has had threads to spare before one of them
// ends, and then the next.
const spareTime = time.Second

// A pool is a number of threads that each accept a connection, serve it to its
// end, and accept again. What they do not take waits in the kernel's queue.
type pool struct {
	server
	min, max, initial int
	retired           atomic.Bool

	mu    sync.Mutex
	size  int
	idle  int       // threads that wait in accept
	short time.Time // when the last one that waited took a connection, or one ended
}

// NewPool makes a thread pool: Options.Workers threads at the start, 0 for
// [DefaultWorkers], which grow to Knobs.MaxWorkers while all are busy, and
// shrink to Knobs.MinWorkers while some are not. Without these two, the pool
// grows to twice its size at the start and does not shrink below it; a pool of
// one thread stays one.
func NewPool(o weighstone.Options) weighstone.Server {
	return newPool(o, PoolSize(o.Workers, o.Knobs))
}

// NewIterative makes the server that has one thread and no keep-alive: it
// accepts, answers once and closes.
func NewIterative(o weighstone.Options) weighstone.Server {
	o.Knobs.CloseAfter = 1
	return newPool(o, Size{1, 1, 1})
}

// A Size is how many threads a pool has: at the start, at least and at most.
type Size struct{ Initial, Min, Max int }

// PoolSize settles a pool's size from what was asked for, 0 for nothing.
func PoolSize(workers int, k weighstone.Knobs) Size {
	s := Size{workers, k.MinWorkers, k.MaxWorkers}
	switch {
	case s.Initial == 0:
		s.Initial = max(DefaultWorkers, s.Min)
		if s.Max > 0 {
			s.Initial = min(s.Initial, s.Max)
		}
	case s.Max == 0 && s.Initial == 1:
		s.Max = max(1, s.Min)
	}
	if s.Max == 0 {
		s.Max = max(2*s.Initial, s.Min)
	}
	if s.Min == 0 {
		s.Min = min(s.Initial, s.Max)
	}
	s.Initial = min(max(s.Initial, s.Min), s.Max)
	return s
}

// NewSole makes the server of one thread that is all that its process does: one
// connection at a time, each to its end.
//
// Its goroutine tells the scheduler of a read only when that has waited for
// soleBrief. The runtime's monitor takes the share of GOMAXPROCS from a thread
// that is in a system call, or has one goroutine for 10 ms, and goes to sleep
// when all are idle, to be woken by the next call that returns: fifty times in
// the millisecond after that it looks again. One monitor hides behind the many
// threads of a pool; one for each of 64 processes cost 100 of 130 us a request.
// The signals by which it asks for such a thread are to be off
// (GODEBUG=asyncpreemptoff=1): each would end a wait.
func NewSole(o weighstone.Options) weighstone.Server {
	p := sized(flow.NewCrowd(o, 1, false), Size{1, 1, 1})
	p.brief = soleBrief
	p.taken = o.Taken
	return p
}

// soleBrief is how late other goroutines of a sole thread's process may be, such
// as one that learns of a drain.
const soleBrief = 50 * time.Millisecond

func newPool(o weighstone.Options, size Size) *pool {
	return sized(flow.NewCrowd(o, size.Max, true), size)
}

func sized(c *flow.Crowd, size Size) *pool {
	p := &pool{}
	p.Crowd = c
	most := p.MaxConns()
	p.min, p.max, p.initial = min(size.Min, most), min(size.Max, most), min(size.Initial, most)
	p.open = p.start
	return p
}

var errFewThreads = errors.New("a thread can wait for one listener only")

func (p *pool) start(listeners []*listener) error {
	if len(listeners) > p.min {
		return fmt.Errorf("start %d threads for %d listeners: %w", p.min, len(listeners), errFewThreads)
	}
	if err := threads(p.max); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.short = time.Now()
	for i := range p.initial {
		p.add(listeners[i%len(listeners)])
	}
	return nil
}

// Retire ends the server without a drain: each thread ends when it has no
// connection any more, and what waits in the queue is left to other processes.
// No client notices, and Serve returns nil.
func (p *pool) Retire() { p.retired.Store(true) }

// add starts a thread. p.mu is held.
func (p *pool) add(l *listener) {
	p.size++
	p.idle++
	p.Go(func() { p.work(l) })
}

// work is a thread of the pool.
func (p *pool) work(l *listener) {
	w := p.newWorker()
	defer w.conn.free()
	if p.taken != nil { // the one thread of a sole server is the only one that finds any
		p.busy(l)
		w.goOn(p.taken)
		p.free()
	}
	for !p.retired.Load() {
		a, what := l.accept()
		switch {
		case what == someone:
			p.busy(l)
			w.serve(a)
			p.free()
		case what == noMore, p.spare():
			return
		}
	}
}

// busy says that a thread has taken a connection. When it was the last one that
// waited, another is started, if there may be more.
func (p *pool) busy(l *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle--; p.idle > 0 {
		return
	}
	p.short = time.Now()
	if p.size < p.max && !p.Draining() {
		p.add(l)
	}
}

func (p *pool) free() {
	p.mu.Lock()
	p.idle++
	p.mu.Unlock()
}

// spare says whether a thread that found nothing to do is to end.
func (p *pool) spare() bool {
	if p.min == p.max {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.size <= p.min || p.idle < 2 || now.Sub(p.short) < spareTime {
		return false
	}
	p.size--
	p.idle--
	p.short = now
	return true
}
