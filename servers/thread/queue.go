package thread

import (
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/flow"
)

// DefaultQueue is how many connections may wait for a thread when nothing is
// said.
const DefaultQueue = 128

// A queued server is half synchronous, half asynchronous: a thread accepts and
// puts the connections into a bounded queue, from which the threads of a fixed
// pool take them (Schmidt and Cranor 1995). When the queue is full, the acceptor
// waits, and connections stay in the kernel's queue.
type queued struct {
	server
	workers int
	queue   chan arrival
}

// NewQueue makes a server with Options.Workers threads, 0 for [DefaultWorkers],
// and a queue for Knobs.Queue connections, 0 for [DefaultQueue].
func NewQueue(o weighstone.Options) weighstone.Server {
	o.Workers = QueueWorkers(o.Workers)
	if o.Knobs.Queue == 0 {
		o.Knobs.Queue = DefaultQueue
	}
	q := &queued{queue: make(chan arrival, o.Knobs.Queue)}
	q.Crowd = flow.NewCrowd(o, o.Workers, true)
	q.workers = min(o.Workers, q.MaxConns())
	q.open = q.start
	return q
}

// QueueWorkers settles the number of threads from what was asked for, 0 for
// nothing.
func QueueWorkers(asked int) int {
	if asked == 0 {
		return DefaultWorkers
	}
	return asked
}

func (q *queued) start(listeners []*listener) error {
	if err := threads(q.workers); err != nil {
		return err
	}
	for range q.workers {
		q.Go(q.work)
	}
	var accepting sync.WaitGroup
	for _, l := range listeners {
		accepting.Add(1)
		q.Go(func() {
			defer accepting.Done()
			q.accept(l)
		})
	}
	q.Go(func() {
		accepting.Wait()
		close(q.queue)
	})
	return nil
}

// accept is the thread that accepts.
func (q *queued) accept(l *listener) {
	for q.Admit() {
		a, what := l.accept()
		if what == someone {
			q.Queued(1)
			q.queue <- a
			continue
		}
		q.Dismiss()
		if what == noMore {
			return
		}
	}
}

// work is a thread of the pool: it takes connections until there will be none.
func (q *queued) work() {
	w := q.newWorker()
	defer w.conn.free()
	for a := range q.queue {
		q.Queued(-1)
		w.serve(a)
		q.Dismiss()
	}
}
