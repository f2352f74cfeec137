package thread

import (
	"sync"

	"github.com/weighstone/weighstone/internal/sys"
)

// A line is the queue between a poller and a pool of threads. It is never full,
// since each connection can be in it once; the poller asks whether it is long.
//
// A thread that finds nothing waits in the kernel and not at a channel: a locked
// goroutine that is woken from there costs two changes of threads. The one that
// began to wait last is woken first: its memory is still in the caches.
type line[T any] struct {
	long int // so many are enough

	mu      sync.Mutex
	waiting []T // a ring: size of them, from first on
	first   int
	size    int
	idle    []*sys.Sleeper // threads that wait
	closed  bool
}

func newLine[T any](long int) *line[T] { return &line[T]{long: long, waiting: make([]T, 64)} }

// Take puts v into the queue, and wakes a thread if one waits.
func (q *line[T]) Take(v T) {
	q.mu.Lock()
	if q.size == len(q.waiting) {
		q.grow()
	}
	q.waiting[(q.first+q.size)%len(q.waiting)] = v
	q.size++
	var thread *sys.Sleeper
	if last := len(q.idle) - 1; last >= 0 {
		thread, q.idle = q.idle[last], q.idle[:last]
	}
	q.mu.Unlock()
	if thread != nil {
		thread.Rouse()
	}
}

// grow doubles the ring. q.mu is held.
func (q *line[T]) grow() {
	bigger := make([]T, 2*len(q.waiting))
	n := copy(bigger, q.waiting[q.first:])
	copy(bigger[n:], q.waiting[:q.first])
	q.waiting, q.first = bigger, 0
}

// Busy says that the queue is long.
func (q *line[T]) Busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size >= q.long
}

// next takes what has waited longest. A thread that finds none
// waits for one in its sleeper. It says false when there will be none.
func (q *line[T]) next(thread *sys.Sleeper) (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size == 0 {
		if q.closed {
			return v, false
		}
		q.idle = append(q.idle, thread)
		q.mu.Unlock()
		thread.Sleep()
		q.mu.Lock()
	}
	var none T
	v, q.waiting[q.first] = q.waiting[q.first], none
	q.first = (q.first + 1) % len(q.waiting)
	q.size--
	return v, true
}

// close says that no more will come.
func (q *line[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, thread := range q.idle {
		thread.Rouse()
	}
	q.idle = nil
}
