package upstream

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weighstone/weighstone/handlers/gateway"
)

// Why a request gets no seat.
var (
	errFull   = errors.New("too many requests wait already")
	errLate   = errors.New("no seat became free in time")
	errLeft   = errors.New("client left while it waited")
	errDown   = errors.New("no worker runs")
	errClosed = errors.New("gateway is closed")
)

// keepIdle is for how long a connection to somebody else's application is
// kept idle: it may tie one of few workers there.
const keepIdle = 30 * time.Second

// A pool gives out the seats of an application: the last used first, the
// requests that wait in their order.
type pool struct {
	queue int // how many may wait

	mu       sync.Mutex
	free     []*seat // those with a connection behind those without
	waiting  []*waiter
	up       int // seats that can be had at all
	starving int // requests on new connections that seem to wait for a worker
	sweeping bool
	closed   bool

	waiters sync.Pool
}

// A waiter is a request in the queue.
type waiter struct {
	seat  chan *seat // one, nil when there is no hope
	timer *time.Timer
	wake  func() // tells that one is there; nil when somebody waits for it
}

// tell hands a seat over. Afterwards the waiter may be another's.
func (w *waiter) tell(s *seat) {
	wake := w.wake
	w.seat <- s
	if wake != nil {
		wake()
	}
}

func newPool(queue int) *pool {
	return &pool{queue: queue, waiters: sync.Pool{New: func() any {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return &waiter{seat: make(chan *seat, 1), timer: t}
	}}}
}

// take returns a free seat, waiting for one if need be.
func (p *pool) take(gone <-chan struct{}, limit time.Duration) (*seat, error) {
	s, w, err := p.enter(nil)
	if w == nil {
		return s, err
	}
	return p.wait(w, gone, limit)
}

// enter returns a free seat, or else a place in the queue. wake is called when
// there is a seat, or no hope for one; it must not call the pool.
func (p *pool) enter(wake func()) (*seat, *waiter, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, nil, errClosed
	case p.up == 0:
		return nil, nil, errDown
	case len(p.free) > 0:
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		s.taken = true
		return s, nil, nil
	case len(p.waiting) >= p.queue:
		return nil, nil, errFull
	}
	w := p.waiters.Get().(*waiter)
	w.wake = wake
	p.waiting = append(p.waiting, w)
	return nil, w, nil
}

// look says whether what a waiter waits for is there; then it is no waiter any
// more.
func (p *pool) look(w *waiter) (s *seat, err error, there bool) {
	select {
	case s = <-w.seat:
		p.waiters.Put(w)
		return s, hope(s), true
	default:
		return nil, nil, false
	}
}

// leave ends a wait.
func (p *pool) leave(w *waiter) {
	if !p.unqueue(w) {
		if s := <-w.seat; s != nil { // given meanwhile
			p.give(s)
		}
	}
	p.waiters.Put(w)
}

// wait waits for a seat, unless it takes too long, or some time after the
// client has left. It is the waiter's end.
func (p *pool) wait(w *waiter, gone <-chan struct{}, limit time.Duration) (*seat, error) {
	defer p.waiters.Put(w)
	w.timer.Reset(limit)
	defer w.timer.Stop()
	why := errLate
	for {
		select {
		case s := <-w.seat:
			return s, hope(s)
		case <-gone:
			gone, why = nil, errLeft
			w.timer.Reset(min(gateway.Leave, limit))
		case <-w.timer.C:
			if p.unqueue(w) {
				return nil, why
			}
			s := <-w.seat // given meanwhile
			return s, hope(s)
		}
	}
}

func hope(s *seat) error {
	if s == nil {
		return errDown
	}
	return nil
}

// unqueue removes a waiter, unless it has been served.
func (p *pool) unqueue(w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, w)
	if i < 0 {
		return false
	}
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return true
}

// give takes a seat back.
func (p *pool) give(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.link != nil && (p.closed || s.down || p.starving > 0 && s.worker == nil) {
		s.hangUp()
	}
	s.taken = false
	if !s.down && !p.closed {
		p.offer(s)
	}
}

// offer gives a seat to who waits longest, or lays it by.
func (p *pool) offer(s *seat) {
	if len(p.waiting) > 0 {
		w := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		s.taken = true
		w.tell(s)
		return
	}
	if s.link == nil {
		p.free = slices.Insert(p.free, 0, s)
		return
	}
	p.free = append(p.free, s)
	if s.worker == nil {
		s.since = time.Now()
		if !p.sweeping {
			p.sweeping = true
			time.AfterFunc(keepIdle, p.sweep)
		}
	}
}

// sweep hangs up what has been idle for long.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := false
	for _, s := range p.free {
		if s.link != nil && (p.closed || time.Since(s.since) >= keepIdle) {
			s.hangUp()
		}
		kept = kept || s.link != nil
	}
	slices.SortStableFunc(p.free, func(a, b *seat) int { return a.rank() - b.rank() })
	if p.sweeping = kept; kept {
		time.AfterFunc(keepIdle, p.sweep)
	}
}

// starve notes that a request on a new connection gets no answer: all workers
// of an application that somebody else runs may be tied by our other
// connections. One of those is hung up, and none is kept until sate.
func (p *pool) starve() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starving++
	for i, s := range p.free {
		if s.link != nil {
			s.hangUp()
			p.free = append(slices.Delete(p.free, i, i+1), s)
			slices.SortStableFunc(p.free, func(a, b *seat) int { return a.rank() - b.rank() })
			return
		}
	}
}

// sate takes back a starve.
func (p *pool) sate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starving--
}

// lower takes a seat out of service, and raise puts it back, or in at first.
// While no seat is in service nobody waits.
func (p *pool) lower(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.down {
		return
	}
	s.down = true
	p.up--
	if i := slices.Index(p.free, s); i >= 0 {
		p.free = slices.Delete(p.free, i, i+1)
		s.hangUp()
	}
	if p.up == 0 {
		p.dismiss()
	}
}

func (p *pool) raise(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !s.down || p.closed {
		return
	}
	s.down = false
	p.up++
	if !s.taken {
		p.offer(s)
	}
}

// dismiss tells all who wait that there is no hope.
func (p *pool) dismiss() {
	for _, w := range p.waiting {
		w.tell(nil)
	}
	p.waiting = nil
}

// close hangs up what is idle, and gives out no more seats.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.dismiss()
	for _, s := range p.free {
		s.hangUp()
	}
	p.free = nil
}
