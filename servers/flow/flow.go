// Package flow is the life of a connection that has a flow of control of its
// own: one thread or goroutine reads a request, answers, and waits for the
// next, and where it stands in the code is the connection's state.
//
// A [Flow] carries one connection at a time; a [Crowd] is all of a server's,
// which drains together. How connections get their flows of control is the
// architecture, and elsewhere: servers/thread, servers/goroutine.
package flow

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// A Flow carries connections through their lives, one after another. It belongs
// to one goroutine at a time and may be pooled: what it has allocated for one
// connection serves the next.
type Flow struct {
	crowd   *Crowd
	machine *wire.Machine
	helper  *wire.Server // for the exchanges that may wait; nil until the first
	slot    *weighstone.Slot
	limits  weighstone.Limits

	peer     wire.Peer
	state    weighstone.ConnState
	deadline time.Time // of the state, but for idle
	now      time.Time // of the last read's end
	rested   int       // requests answered when the connection last waited for input
	skip     int64     // bytes of an unread body to drop before the next request
	rest     wire.Rest // what follows out
	in, out  []byte

	mu         sync.Mutex
	conn       Conn      // nil between two connections
	idle       bool      // it waits for the first byte of a request
	halfClosed time.Time // when the drain closed our side of it

	prev, next *Flow // in the crowd's list, while it has a connection
}

// outputRoom is how many bytes of replies are gathered before they are written.
const outputRoom = 16 << 10

// lingerLimit is how long a client may go on sending after we closed our side.
const lingerLimit = 10 * time.Second

// NewFlow makes a flow that counts in one of the crowd's slots, in turn.
func (c *Crowd) NewFlow() *Flow {
	slot := c.slots[int(c.turn.Add(1)-1)%len(c.slots)]
	return &Flow{
		crowd: c, machine: wire.NewMachine(c.config, slot), slot: slot, limits: c.config.Limits,
		in:  make([]byte, c.config.Limits.MaxHeader+wire.BufferSize),
		out: make([]byte, 0, 4<<10),
	}
}

// Serve carries conn through its life and closes it. accepted is when that
// began.
func (f *Flow) Serve(conn Conn, peer wire.Peer, accepted time.Time) {
	f.slot.Accepted.Add(1)
	f.GoOn(conn, peer, accepted)
}

// GoOn is Serve of a connection that another program has accepted and counted,
// and that begins with a request now.
func (f *Flow) GoOn(conn Conn, peer wire.Peer, now time.Time) {
	f.peer, f.now = peer, now
	f.rested, f.skip = peer.Answered, 0
	f.state = weighstone.StateHead
	f.deadline = now.Add(f.limits.Header)
	f.slot.Conns[f.state].Add(1)
	end := wire.Closed
	if f.crowd.join(f, conn) {
		end = f.converse()
	}
	switch end {
	case wire.Linger:
		f.linger()
	case wire.Abort:
		sys.ResetOnClose(conn.FD())
	}
	f.crowd.leave(f)
	f.slot.Conns[f.state].Add(-1)
}

// converse answers requests until the connection is to end, and says how.
func (f *Flow) converse() (end wire.End) {
	for have := 0; end == wire.Keep; {
		have, end = f.step(have)
	}
	return end
}

// step reads behind the bytes of a request that are there, and answers what it
// can. left are those of the next request then.
func (f *Flow) step(have int) (left int, end wire.End) {
	n, err := f.read(have)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, f.overdue(have)
	case err != nil: // a half-closed client has had its answers by now
		return 0, wire.Closed
	case !f.halfClosed.IsZero():
		return 0, wire.Linger
	}
	return f.take(have, n)
}

// take answers what it can of the bytes in f.in, have that were there and n just
// read.
func (f *Flow) take(have, n int) (left int, end wire.End) {
	f.now = time.Now()
	f.machine.Tick(f.now)
	rest, end := f.answer(f.in[:have+n], have)
	if end != wire.Keep {
		return 0, end
	}
	left = copy(f.in, rest)
	f.settle(left)
	return left, wire.Keep
}

// read reads behind the bytes of a request that are there.
func (f *Flow) read(have int) (n int, err error) {
	limit := f.limits.Idle
	if f.state != weighstone.StateIdle {
		if limit = time.Until(f.deadline); limit <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
	}
	if have > 0 || f.skip > 0 {
		return f.conn.ReadWithin(f.in[have:], limit)
	}
	// The drain may close our side while we wait, but not between the first
	// byte of a request and its answer.
	f.setIdle(true)
	n, err = f.conn.ReadWithin(f.in, limit)
	f.setIdle(false)
	return n, err
}

func (f *Flow) setIdle(idle bool) {
	f.mu.Lock()
	f.idle = idle
	f.mu.Unlock()
}

// settle leaves the connection waiting for input: of the request whose first
// bytes are there, or of the next. The time of a head runs from its first byte,
// that of a dropped body from its head's end; further bytes prolong neither.
func (f *Flow) settle(have int) {
	state, limit := weighstone.StateIdle, f.limits.Idle
	switch {
	case f.skip > 0:
		state, limit = weighstone.StateBody, f.limits.Body
	case have > 0 || f.peer.Answered == 0:
		state, limit = weighstone.StateHead, f.limits.Header
	}
	if f.peer.Answered != f.rested || f.state != state {
		f.deadline = f.now.Add(limit)
	}
	f.rested = f.peer.Answered
	f.enter(state)
}

func (f *Flow) enter(state weighstone.ConnState) {
	f.slot.Move(f.state, state)
	f.state = state
}
