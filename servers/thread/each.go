package thread

import (
	"fmt"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/flow"
)

// MaxThreads bounds the threads of a server: Go ends a program that has 10,000,
// and a successor and the threads of handlers need theirs.
const MaxThreads = 4000

// threads refuses to start more threads than there may be.
func threads(n int) error {
	if n > MaxThreads {
		return fmt.Errorf("start %d threads: there may be %d", n, MaxThreads)
	}
	return nil
}

// each starts a thread for each connection.
type each struct {
	server
	asked   int
	hand    func(arrival) // begins to serve a connection, and sees to its Dismiss
	workers sync.Pool     // of *worker, whose threads have ended
}

// NewEach makes a thread for each connection. It has no more than [MaxThreads]
// at a time: what is above waits in the kernel's queue.
func NewEach(o weighstone.Options) weighstone.Server {
	e := &each{asked: o.Limits.MaxConns}
	if o.Limits.MaxConns == 0 {
		o.Limits.MaxConns = min(flow.DescriptorRoom(), MaxThreads)
	}
	e.Crowd = flow.NewCrowd(o, o.Workers, true)
	e.workers.New = func() any { return e.newWorker() }
	e.hand = func(a arrival) { e.Go(func() { e.serve(a) }) }
	e.open = e.start
	return e
}

func (e *each) start(listeners []*listener) error {
	if err := threads(e.asked); err != nil {
		return err
	}
	for _, l := range listeners {
		e.Go(func() { e.accept(l) })
	}
	return nil
}

// accept is the thread that accepts.
func (e *each) accept(l *listener) {
	for e.Admit() {
		a, what := l.accept()
		if what == someone {
			e.hand(a)
			continue
		}
		e.Dismiss()
		if what == noMore {
			return
		}
	}
}

// serve is the thread of one connection.
func (e *each) serve(a arrival) {
	w := e.workers.Get().(*worker)
	w.serve(a)
	w.conn.free()
	e.workers.Put(w)
	e.Dismiss()
}
