// Package stage is the building block of a server that is a network of stages
// (Welsh, Culler and Brewer 2001): a bounded queue of events, and threads that
// take them from it in batches. Whoever puts an event into a full queue is told
// so at once and decides what becomes of it: that is admission control.
package stage

import (
	"runtime"
	"sync"
	"time"

	"github.com/weighstone/weighstone/internal/sys"
)

// A Config is the size of a stage.
type Config struct {
	Name  string // of the threads, as ps -L shows it; at most 15 bytes
	Queue int    // events that may wait
	Batch int    // events that a thread takes at a time; 0 for one

	// Min and Max bound the threads. There are Min at the start and always; one
	// more is added when more than Threshold events wait, and one that has had
	// nothing to do for Idle ends.
	Min, Max  int
	Threshold int
	Idle      time.Duration // 0 for 5 s
}

// A Stage is a queue of events and its threads. Any goroutine may put events.
type Stage[E any] struct {
	config  Config
	worker  func() func(batch []E)
	queue   chan E
	running sync.WaitGroup

	mu      sync.Mutex
	threads int
	coming  bool // a thread was added and has taken nothing yet
}

// New starts a stage. Each thread calls worker for a function of its own, with
// what that needs, and this one with each batch, which is valid during the call.
func New[E any](c Config, worker func() func(batch []E)) *Stage[E] {
	c.Batch, c.Min = max(c.Batch, 1), max(c.Min, 1)
	if c.Idle == 0 {
		c.Idle = 5 * time.Second
	}
	s := &Stage[E]{config: c, worker: worker, queue: make(chan E, c.Queue), threads: c.Min}
	for range c.Min {
		s.running.Go(s.run)
	}
	return s
}

// Put queues an event; false says that the queue is full. There must be none
// after Close.
func (s *Stage[E]) Put(e E) bool {
	select {
	case s.queue <- e:
	default:
		s.control()
		return false
	}
	if len(s.queue) > s.config.Threshold {
		s.control()
	}
	return true
}

// Close ends the stage when its queue is worked off, and returns then.
func (s *Stage[E]) Close() {
	close(s.queue)
	s.running.Wait()
}

// Waiting is how many events wait now.
func (s *Stage[E]) Waiting() int { return len(s.queue) }

// Threads is how many threads there are now.
func (s *Stage[E]) Threads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads
}

// control is the controller of the thread pool: it adds a thread for a queue
// that is too long, but not before the last one added has come to work.
func (s *Stage[E]) control() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.threads < s.config.Max && !s.coming {
		s.threads++
		s.coming = true
		s.running.Go(s.run)
	}
}

// run is a thread.
func (s *Stage[E]) run() {
	// Unlocked before the end, or the thread would end too, and with it the
	// programs that it may have started before (PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := sys.NameThread(s.config.Name)
	defer sys.NameThread(before)

	work := s.worker()
	batch := make([]E, 0, s.config.Batch)
	var idle *time.Timer // nil for a pool that never shrinks
	if s.config.Max > s.config.Min {
		idle = time.NewTimer(s.config.Idle)
		defer idle.Stop()
	}
	for {
		var open bool
		if batch, open = s.take(batch[:0], idle); len(batch) == 0 {
			if !open || s.retire() {
				return
			}
			continue
		}
		s.arrived()
		work(batch)
		clear(batch)
	}
}

// take waits for an event and takes what is behind it too, as much as a batch
// holds. An empty batch says that none came for so long, or that there will be
// none.
func (s *Stage[E]) take(batch []E, idle *time.Timer) (_ []E, open bool) {
	var late <-chan time.Time
	if idle != nil {
		idle.Reset(s.config.Idle)
		late = idle.C
	}
	select {
	case e, open := <-s.queue:
		if !open {
			return batch, false
		}
		batch = append(batch, e)
	case <-late:
		return batch, true
	}
	for len(batch) < cap(batch) {
		select {
		case e, open := <-s.queue:
			if !open {
				return batch, false
			}
			batch = append(batch, e)
		default:
			return batch, true
		}
	}
	return batch, true
}

// arrived lets the controller add the next thread, also when nothing more comes:
// those that there are may be busy for long.
func (s *Stage[E]) arrived() {
	s.mu.Lock()
	s.coming = false
	s.mu.Unlock()
	if len(s.queue) > s.config.Threshold {
		s.control()
	}
}

// retire says whether a thread that had nothing to do is to end.
func (s *Stage[E]) retire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming = false
	if s.threads <= s.config.Min {
		return false
	}
	s.threads--
	return true
}
