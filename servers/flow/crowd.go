package flow

import (
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/quota"
	"github.com/weighstone/weighstone/servers/wire"
)

// A Crowd is the flows of one server: it starts their goroutines, bounds the
// connections, and ends them in a drain.
type Crowd struct {
	Log *slog.Logger

	config wire.Config
	quota  *quota.Quota
	locked bool // each goroutine has a thread of its own
	max    int  // connections at a time
	slots  []*weighstone.Slot
	turn   atomic.Uint64 // of the slots
	leaves *leaves

	handover func(weighstone.Handover) error // see weighstone.Options; or nil

	draining atomic.Bool
	ending   chan struct{} // closed when draining is set
	cut      atomic.Bool   // the drain's time is over
	done     chan struct{}

	mu       sync.Mutex
	room     sync.Cond // a connection has ended, or the drain has begun
	first    *Flow     // the list of those with a connection
	taken    int       // connections that were let in
	running  int       // goroutines, and Run itself
	handlers int       // flows with a handler that may wait
	finished bool      // done is closed
}

// NewCrowd makes the flows' side of a server. workers is how many slots it
// makes when the options bring none. locked says that each goroutine is to keep
// a thread for itself, which must wait in system calls then.
func NewCrowd(o weighstone.Options, workers int, locked bool) *Crowd {
	o.Limits = o.Limits.Filled()
	if o.Limits.MaxConns == 0 {
		o.Limits.MaxConns = DescriptorRoom()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Crowd{
		Log: o.Log, config: wire.NewConfig(&o, nil), quota: quota.New(o.Knobs.ConnsPerAddr, o.Log),
		locked: locked, max: o.Limits.MaxConns, slots: o.Slots, handover: o.Handover,
		ending: make(chan struct{}), done: make(chan struct{}),
	}
	c.room.L = &c.mu
	for len(c.slots) < 1 || len(o.Slots) == 0 && len(c.slots) < workers {
		c.slots = append(c.slots, new(weighstone.Slot))
	}
	return c
}

// DescriptorRoom is how many connections the descriptor limit allows: files,
// pipes and the like need descriptors too.
func DescriptorRoom() int {
	n := sys.NoFile()
	return max(n-max(64, n/10), 16)
}

// MaxConns is how many connections there may be at a time.
func (c *Crowd) MaxConns() int { return c.max }

// Limits are the server's, with defaults filled in.
func (c *Crowd) Limits() weighstone.Limits { return c.config.Limits }

// Slots are where the flows count.
func (c *Crowd) Slots() []*weighstone.Slot { return c.slots }

// Stats sums the counters.
func (c *Crowd) Stats() weighstone.Stats { return weighstone.Sum(c.slots) }

// Run serves site: start starts goroutines by [Crowd.Go], and Run returns when
// all have ended; after a drain that was cut off, when the others have but those
// whose handlers do not return.
func (c *Crowd) Run(site *weighstone.Site, start func() error) error {
	c.config.Site = site
	var err error
	if c.leaves, err = newLeaves(c.Log); err == nil {
		c.count(1)
		if err = start(); err != nil {
			c.Abandon()
		}
		c.count(-1)
		<-c.done
		c.leaves.close()
		return err
	}
	close(c.done)
	return err
}

// Go starts a goroutine that Run waits for.
func (c *Crowd) Go(work func()) {
	c.count(1)
	go func() {
		if c.locked {
			// Unlocked before the end, or the thread would end too, and with it
			// the programs that it has started (PR_SET_PDEATHSIG).
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
		}
		defer c.count(-1)
		work()
	}()
}

// count counts goroutines.
func (c *Crowd) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running += n
	c.finish()
}

// enterHandler counts the flows that wait in a handler.
func (c *Crowd) enterHandler(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers += n
	c.finish()
}

// finish ends Run if nothing is left to wait for. c.mu is held.
func (c *Crowd) finish() {
	if !c.finished && (c.running == 0 || c.cut.Load() && c.running == c.handlers) {
		c.finished = true
		close(c.done)
	}
}

// Admit waits until there is room for one more connection and takes it, until
// [Crowd.Dismiss]. It says false when the server ends at once.
func (c *Crowd) Admit() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.taken >= c.max && !c.cut.Load() {
		c.room.Wait()
	}
	if c.cut.Load() {
		return false
	}
	c.taken++
	return true
}

// Dismiss gives the room for one connection back.
func (c *Crowd) Dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken--
	c.room.Signal()
}

// Welcome says whether a connection just accepted is to be served. One that is
// not, since its address has as many as it may, is closed and counted.
func (c *Crowd) Welcome(fd int, remote netip.AddrPort) bool {
	if c.quota.Take(remote.Addr()) {
		return true
	}
	c.slots[0].Refused.Add(1) // first: the client may look at it when it sees the end
	sys.Close(fd)
	return false
}

// Queued counts connections that were taken and wait for a flow.
func (c *Crowd) Queued(n int64) { c.slots[0].Conns[weighstone.StateHead].Add(n) }

// join makes f's connection one of the crowd, unless the server ends at once.
func (c *Crowd) join(f *Flow, conn Conn) bool {
	f.mu.Lock()
	f.conn, f.idle = conn, false
	f.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	f.prev, f.next = nil, c.first
	if c.first != nil {
		c.first.prev = f
	}
	c.first = f
	return !c.cut.Load()
}

// leave closes f's connection.
func (c *Crowd) leave(f *Flow) {
	f.mu.Lock()
	f.conn.Close()
	f.conn, f.halfClosed = nil, time.Time{}
	f.mu.Unlock()
	c.quota.Give(f.peer.Remote.Addr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		c.first = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	}
	f.prev, f.next = nil, nil
}
