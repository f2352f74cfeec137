package loop

import (
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/wire"
)

// A Crew reads and answers in the place of a loop, which waits for the
// connections that are between two requests, and for the clients of those that
// we have closed. The sockets block.
type Crew interface {
	// Take has a connection served on which something has come, and returns at
	// once. It is called by the loop.
	Take(v Visit)
	// Busy says that so many wait to be served that no more are to be accepted.
	Busy() bool
}

// A Visit is a connection in the hands of a crew, from Take to Return.
type Visit struct {
	l     *loop
	c     *conn
	began time.Time
}

// FD is the descriptor, which stays the loop's.
func (v *Visit) FD() int { return v.c.fd }

// Peer is the connection as its requests see it.
func (v *Visit) Peer() *wire.Peer { return &v.c.peer }

// Began is when the time of the request's head began.
func (v *Visit) Began() time.Time { return v.began }

// Slot is where the connection counts, in the handler state, as long as the crew
// does not count it in another.
func (v *Visit) Slot() *weighstone.Slot { return v.l.slot }

// Return gives the connection back, and says how it goes on: [wire.Keep] is to
// wait for the next request.
func (v *Visit) Return(end wire.End) { v.l.giveBack(returned{c: v.c, end: end}) }

// visit gives c, on which something has come, to the crew. The time of its first
// head runs since the accept, that of others from now on.
func (l *loop) visit(c *conn) {
	v := Visit{l: l, c: c, began: l.now}
	if c.state == weighstone.StateHead {
		v.began = c.since
	}
	c.lent = true
	l.enter(c, weighstone.StateHandler)
	l.crew.Take(v)
}
