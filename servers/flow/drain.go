package flow

import (
	"context"
	"time"

	"github.com/weighstone/weighstone/internal/sys"
)

// drainGrace is how long an idle connection of a draining server may still
// begin a request: a client that was about to send gets its answer, with
// Connection: close.
const drainGrace = time.Second

// drainTick is how often a drain looks for connections that have become idle.
const drainTick = 50 * time.Millisecond

// Draining says that the server is to end: whoever accepts takes what waits in
// the queue, and then stops.
func (c *Crowd) Draining() bool { return c.draining.Load() }

// Drained is closed when the server is to end.
func (c *Crowd) Drained() <-chan struct{} { return c.ending }

// beginDrain tells all to end, once. c.mu is held.
func (c *Crowd) beginDrain() {
	if !c.draining.Swap(true) {
		close(c.ending)
	}
}

// Cut says that the server is to end at once.
func (c *Crowd) Cut() bool { return c.cut.Load() }

// Drain finishes what is in flight; see [weighstone.Server].
func (c *Crowd) Drain(ctx context.Context) error {
	c.mu.Lock()
	c.beginDrain()
	c.mu.Unlock()
	grace := time.Now().Add(drainGrace)
	tick := time.NewTicker(drainTick)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return nil
		case now := <-tick.C:
			if now.After(grace) {
				c.closeIdle(now)
			}
		case <-ctx.Done():
			c.Abandon()
			<-c.done
			return ctx.Err()
		}
	}
}

// closeIdle half-closes the connections on which no request has begun. Their
// flows, which wait in a read, go on reading to the end; those that have done so
// for too long are ended.
func (c *Crowd) closeIdle(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(f *Flow) {
		fd := f.conn.FD()
		switch {
		case !f.halfClosed.IsZero():
			if now.Sub(f.halfClosed) >= lingerLimit {
				sys.ShutDown(fd)
			}
		case f.idle && !sys.Queued(fd):
			sys.HalfClose(fd)
			f.halfClosed = now
		}
	})
}

// Abandon ends the server at once: every connection is shut down, so that whoever
// waits on it sees its end.
func (c *Crowd) Abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beginDrain()
	// First, or a handler that gives up at once would still send a reply.
	c.each(func(f *Flow) { sys.ShutDown(f.conn.FD()) })
	c.cut.Store(true)
	c.room.Broadcast()
	c.finish()
}

// each calls do for every flow that has a connection, which is not closed
// meanwhile. c.mu is held.
func (c *Crowd) each(do func(f *Flow)) {
	for f := c.first; f != nil; f = f.next {
		f.mu.Lock()
		if f.conn != nil {
			do(f)
		}
		f.mu.Unlock()
	}
}
