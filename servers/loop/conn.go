package loop

import (
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/uring"
	"github.com/weighstone/weighstone/servers/wire"
)

// A conn is one connection. The loop owns it from accept to close, but for the
// time that it is in the handler state: then a goroutine has its descriptor and
// its bytes, and the loop watches only whether the client leaves.
//
// It is in exactly one state and stands in that state's list, in the order in
// which it came there: timeouts, the counters of /server-status and the picture
// of the connections all come from that.
type conn struct {
	fd    int
	state weighstone.ConnState
	since time.Time // when it entered its state, or last made progress in it

	prev, next *conn // in the list of its state

	in      []byte    // read and not yet answered; nil when there is nothing
	out     []byte    // rendered and not yet taken by the socket
	rest    wire.Rest // what follows out
	mapping []byte    // of the file that rest shows, if it is sent by mmap
	corked  bool      // TCP_CORK is set
	cold    bool      // the next bytes of rest's file are not in memory
	away    bool      // a helper reads them; the dispatcher does not watch c meanwhile
	skip    int64     // bytes of an unread body to drop before the next request

	closing bool // no further request: close when the output is gone
	linger  bool // ... and then read on to the end, since the client may be sending
	served  bool // it has been answered before
	lent    bool // a goroutine, a crew or a stage has it
	late    bool // it is over its limit while a stage has it, in the state was
	was     weighstone.ConnState
	gone    chan struct{}

	parked weighstone.Parked // the exchange that waits for another socket; nil for none
	wake   func()            // has the loop look at it; made when first needed
	left   bool              // the client left meanwhile
	awaits int               // reactor: that socket, while it is watched; 0 when it is not

	peer wire.Peer

	born    uint64 // the turn of its loop in which it came
	blocked bool   // reactor: the last call on it would have blocked
	armed   uint32 // reactor: the interest that the dispatcher has, 0 for none

	ops        uint8          // proactor: the operations that go on, a bit each
	ended      bool           // proactor: nothing more will be received
	generation uint32         // proactor: tells it from others on its descriptor; 0 for none yet
	message    *uring.Message // proactor: of a send in two pieces
}

// pending says whether output waits for the socket.
func (c *conn) pending() bool { return len(c.out) > 0 || !c.rest.Empty() }

// unsent is how many bytes wait for the socket.
func (c *conn) unsent() int64 { return int64(len(c.out)+len(c.rest.Page)) + c.rest.Length }

// A list holds the connections of one state, oldest first.
type list struct {
	first, last *conn
}

func (l *list) push(c *conn) {
	c.prev, c.next = l.last, nil
	if l.last != nil {
		l.last.next = c
	} else {
		l.first = c
	}
	l.last = c
}

func (l *list) remove(c *conn) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.prev, c.next = nil, nil
}

// enter moves c to a state, or, if it is in it already, to the end of its list:
// it made progress now.
func (l *loop) enter(c *conn, state weighstone.ConnState) {
	if c.state != state || l.lists[state].last != c {
		l.lists[c.state].remove(c)
		l.lists[state].push(c)
		l.slot.Move(shown(c.state), shown(state))
		c.state = state
	}
	c.since = l.now
}
