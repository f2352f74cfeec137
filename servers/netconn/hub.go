package netconn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/servers/quota"
)

// A Hub owns the listeners and connections of one server, from Listen to the
// end of Drain.
type Hub struct {
	Limits weighstone.Limits // filled, never zero but for MaxConns
	Access weighstone.AccessLog
	Log    *slog.Logger

	// Judge, unless nil, refuses with a status what the strict parser accepts
	// and the library would refuse in its own way. It returns 0 to accept. Set
	// it before Listen.
	Judge func(head *http1.Request) (status int)

	site       *weighstone.Site
	heads      http1.Limits
	slots      []*weighstone.Slot
	start      time.Time // the zero of every instant
	maxConns   int
	quota      *quota.Quota
	closeAfter int // requests of a connection; 0 for no bound

	draining  atomic.Bool
	graceEnds instant // when idle connections are closed; set before draining
	drained   chan struct{}
	drainOnce sync.Once
	drainErr  error

	mu        sync.Mutex
	room      sync.Cond // signalled when a connection leaves and when draining begins
	conns     map[*Conn]struct{}
	next      int // slot of the next connection
	listeners []*Listener
	accepting int // listeners that have not yet stopped
	givenUp   bool
}

// An instant is nanoseconds since the hub's start: cheaper than a time.Time,
// and it fits an atomic.
type instant = int64

// Two values that are no instants of the future.
const (
	never instant = 1<<63 - 1 // no deadline
	unset instant = 0         // a deadline that is worked out when it is first needed
	stale instant = -1        // a timer that has fired, or that someone else has set
)

// grace is how long a connection may stay idle after the drain was announced.
const grace = time.Second

// spare is how many descriptors are left for files, pipes and logs when the
// number of connections is bounded by the descriptor limit alone.
const spare = 64

// NewHub makes a hub. It starts nothing.
func NewHub(o weighstone.Options) *Hub {
	h := &Hub{
		Limits:  o.Limits.Filled(),
		Access:  o.Access,
		Log:     o.Log,
		slots:   o.Slots,
		start:   time.Now(),
		drained: make(chan struct{}),
		conns:   map[*Conn]struct{}{},
	}
	h.room.L = &h.mu
	h.heads = http1.Limits{Head: h.Limits.MaxHeader}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	for len(h.slots) < max(1, o.Workers) && len(o.Slots) == 0 {
		h.slots = append(h.slots, new(weighstone.Slot))
	}
	h.quota = quota.New(o.Knobs.ConnsPerAddr, h.Log)
	h.closeAfter = o.Knobs.CloseAfter
	if h.maxConns = h.Limits.MaxConns; h.maxConns == 0 {
		h.maxConns = descriptors()
	}
	return h
}

// descriptors returns how many connections the descriptor limit allows.
func descriptors() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 1024 - spare
	}
	return max(int(min(lim.Cur, 1<<20))-spare, 1)
}

// Stats returns the counters now.
func (h *Hub) Stats() weighstone.Stats { return weighstone.Sum(h.slots) }

// Draining says whether the server is about to end.
func (h *Hub) Draining() bool { return h.draining.Load() }

// Drained is closed when Drain has finished.
func (h *Hub) Drained() <-chan struct{} { return h.drained }

func (h *Hub) now() instant { return int64(time.Since(h.start)) + 1 }

// adopt makes c one of the hub's connections.
func (h *Hub) adopt(c *Conn) {
	h.mu.Lock()
	h.conns[c] = struct{}{}
	c.slot = h.slots[h.next%len(h.slots)]
	h.next++
	h.mu.Unlock()
	c.slot.Accepted.Add(1)
	c.slot.Conns[weighstone.StateHead].Add(1)
}

// remove forgets a closed connection.
func (h *Hub) remove(c *Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	h.room.Broadcast()
}

// waitRoom waits while the bound on connections is reached. A drain lifts it:
// what already waits in the accept queue is to be answered. With several
// listeners the bound can be exceeded by one connection for each but the first.
func (h *Hub) waitRoom() {
	h.mu.Lock()
	for len(h.conns) >= h.maxConns && !h.draining.Load() {
		h.room.Wait()
	}
	h.mu.Unlock()
}

// Drain announces the end, lets the listeners take what waits in their queues,
// gives idle connections their grace, and returns when the last connection is
// closed. When ctx ends first, what is left is cut off and ctx's error
// returned. Later calls wait for the first and return the same.
func (h *Hub) Drain(ctx context.Context) error {
	h.drainOnce.Do(func() {
		h.drainErr = h.drain(ctx)
		close(h.drained)
	})
	<-h.drained
	return h.drainErr
}

func (h *Hub) drain(ctx context.Context) error {
	h.mu.Lock()
	h.graceEnds = h.now() + int64(grace)
	h.draining.Store(true)
	for _, l := range h.listeners {
		l.wake()
	}
	for c := range h.conns {
		c.poke()
	}
	h.mu.Unlock()
	h.room.Broadcast()

	stop := context.AfterFunc(ctx, h.cut)
	h.mu.Lock()
	defer h.mu.Unlock()
	for (len(h.conns) > 0 || h.accepting > 0) && !h.givenUp {
		h.room.Wait()
	}
	if stop() {
		return nil
	}
	return ctx.Err()
}

// cut closes all that is left, without care. A handler that does not see that
// is not waited for much longer.
func (h *Hub) cut() {
	time.AfterFunc(grace, func() {
		h.mu.Lock()
		h.givenUp = true
		h.mu.Unlock()
		h.room.Broadcast()
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.listeners {
		_ = l.tcp.Close()
	}
	for c := range h.conns {
		c.cut()
	}
}

// Run hands each listener to serve, in a goroutine of its own, and returns nil
// after Drain, or the first error of a listener that stopped before. It closes
// the listeners.
func (h *Hub) Run(listeners []*Listener, serve func(*Listener) error) error {
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			err := serve(l)
			_ = l.Close()
			if !h.Draining() {
				failed <- errors.Join(errors.New("accept connections: a listener has stopped"), err)
			}
		}()
	}
	select {
	case <-h.drained:
		return nil
	case err := <-failed:
		return err
	}
}

// errStopped is what Accept returns when a drain has emptied the queue. Both
// libraries take io.EOF for an orderly end.
var errStopped = io.EOF
