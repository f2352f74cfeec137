package loop

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// A reactor is the transport by readiness: a dispatcher reports descriptors, and
// the call that each one's state asks for is made then.
type reactor struct {
	l     *loop
	d     dispatcher
	ready []int // what the last wait reported

	edge      bool // readiness is told once: what is told is used up, or stands in again
	naive     bool // interest is stated at every change of state
	exclusive bool

	again, spare []int // descriptors whose readiness is not used up

	awaiting []*conn // by the descriptor for which its parked exchange waits
}

func newReactor(l *loop, d dispatcher, k weighstone.Knobs) *reactor {
	return &reactor{l: l, d: d, edge: k.EdgeTriggered, naive: k.NaiveControl, exclusive: k.Exclusive}
}

func (r *reactor) start() error { return r.d.set(r.l.wake, evIn) }

func (r *reactor) wait(timeout time.Duration, share bool) (events int, err error) {
	if len(r.again) > 0 {
		timeout = 0
	}
	r.ready, err = r.d.wait(timeout, share)
	return len(r.ready), err
}

func (r *reactor) work() {
	again := r.again
	r.again = r.spare[:0]
	for _, fd := range r.ready {
		r.handle(fd)
	}
	for _, fd := range again {
		if fd >= len(r.l.conns) || r.l.conns[fd] == nil || !r.l.conns[fd].inHandler() {
			r.handle(fd)
		}
	}
	r.spare = again
}

// handle goes on with a descriptor on which something happened. What it was does
// not matter: the call that the state asks for finds out, and costs no more.
func (r *reactor) handle(fd int) {
	l := r.l
	if fd < len(l.conns) && l.conns[fd] != nil {
		if l.conns[fd].born == l.turns {
			// What was told is of the connection that had the descriptor before
			// and was closed in this turn. Taken for this one's, whose own is still
			// to be told, it would be read twice: also while a stage or a thread
			// has it.
			return
		}
		if r.edge {
			r.useUp(l.conns[fd])
		} else {
			r.step(l.conns[fd])
		}
		return
	}
	if fd == l.wake {
		l.takeBack()
		return
	}
	if fd < len(r.awaiting) && r.awaiting[fd] != nil {
		c := r.awaiting[fd]
		r.unawait(c, true)
		l.look(c)
		return
	}
	for i := range l.listeners {
		if ln := &l.listeners[i]; ln.fd == fd && l.accepting {
			if l.accept(ln) && r.edge {
				r.again = append(r.again, fd)
			}
		}
	}
}

// step makes the call that the state of c asks for.
func (r *reactor) step(c *conn) {
	if c.away { // an edge that was told before
		c.blocked = true
		return
	}
	switch c.state {
	case weighstone.StateHandler:
		r.l.clientGone(c)
	case stateParked:
		r.stirred(c)
	case weighstone.StateWrite:
		r.l.writable(c)
	case weighstone.StateLinger:
		r.discard(c)
	default:
		if r.l.crew != nil {
			c.armed = evOnce // and spent
			r.l.visit(c)
			return
		}
		if r.l.stages != nil {
			c.armed = evOnce
		}
		r.readable(c)
	}
}

// edgeSteps bounds the steps that one edge leads to at once, so that a client
// that sends without end does not keep the others waiting.
const edgeSteps = 16

// useUp takes steps until a call would block: nothing tells again what is left.
func (r *reactor) useUp(c *conn) {
	for range edgeSteps {
		c.blocked = false
		r.step(c)
		if c.blocked || r.l.conns[c.fd] != c || c.inHandler() {
			return
		}
	}
	r.again = append(r.again, c.fd)
}

// readable reads once and answers what it can. Bytes that a connection has left
// from before go in front; a connection without any owns no buffer.
func (r *reactor) readable(c *conn) {
	l := r.l
	kept := copy(l.in, c.in)
	n, errno := sys.Read(c.fd, l.in[kept:])
	switch {
	case errno == unix.EAGAIN:
		c.blocked = true
		if l.stages != nil { // it was told once
			r.watch(c)
		}
		return
	case errno != 0, n == 0: // a half-closed client has had its answers by now
		l.destroy(c)
		return
	}
	l.answer(c, l.in[:kept+n], kept)
}

// discard reads what a lingering client still sends.
func (r *reactor) discard(c *conn) {
	for range 4 { // a fast uploader must not keep the others waiting
		n, errno := sys.ReadNow(c.fd, r.l.in)
		if errno == unix.EAGAIN {
			c.blocked = true
			return
		}
		if errno != 0 || n == 0 {
			r.l.destroy(c)
			return
		}
	}
}

func (r *reactor) flush(c *conn, out []byte, _ bool) bool { return r.l.transmit(c, out) }

func (r *reactor) listen(ln *listener) error {
	events := uint32(evIn)
	if r.edge {
		events |= evEdge
	}
	if r.exclusive {
		events |= evExclusive
	}
	return r.d.set(ln.fd, events)
}

func (r *reactor) unlisten(ln *listener) error { return r.d.del(ln.fd, false) }
func (r *reactor) arrears() bool               { return false }

func (r *reactor) watch(c *conn) bool {
	if (r.l.crew != nil || r.l.stages != nil) && c.state != weighstone.StateLinger {
		return r.arm(c, evIn|evOnce)
	}
	return r.arm(c, evIn)
}

func (r *reactor) awaitRoom(c *conn) bool { return r.arm(c, evOut) }

func (r *reactor) lend(c *conn) {
	if r.arm(c, evGone) {
		r.l.hand(c)
	}
}

// park leaves the interest in c as it is, since its reply mostly comes before
// the client stirs. Edges must be stated anew afterwards: this one may not be
// used up.
func (r *reactor) park(c *conn) bool { return !r.edge || r.arm(c, evGone) }

// stirred finds out whether the client of a parked exchange has left or only
// sends, by the next event.
func (r *reactor) stirred(c *conn) {
	if c.armed&^evEdge == evGone {
		r.l.clientGone(c)
		return
	}
	r.arm(c, evGone)
}

func (r *reactor) await(c *conn, fd int) bool {
	if c.awaits == fd {
		return true
	}
	if err := r.d.once(fd); err != nil {
		r.l.log.Debug("park exchange", "err", err)
		return false
	}
	for fd >= len(r.awaiting) {
		r.awaiting = append(r.awaiting, make([]*conn, len(r.awaiting)+64)...)
	}
	r.awaiting[fd], c.awaits = c, fd
	return true
}

func (r *reactor) forget(c *conn) {
	if c.awaits != 0 {
		r.unawait(c, false)
	}
}

// unawait ends an await; told says that the dispatcher has told of it.
func (r *reactor) unawait(c *conn, told bool) {
	if err := r.d.forget(c.awaits, told); err != nil {
		r.l.log.Error("unwatch application", "err", err)
	}
	r.awaiting[c.awaits], c.awaits = nil, 0
}

// unwatch ends the interest in c: the end of a stream stays ready for ever.
func (r *reactor) unwatch(c *conn) {
	if c.armed != 0 {
		c.armed = 0
		if err := r.d.del(c.fd, false); err != nil {
			r.l.log.Error("unwatch connection", "err", err)
		}
	}
}

// arm states the interest in c's descriptor, if it is not that already. Edges
// of both directions are asked for together, once: so there is nothing to
// change between reading and writing.
func (r *reactor) arm(c *conn, events uint32) bool {
	switch {
	case r.edge && events == evGone:
		events |= evEdge
	case r.edge:
		events = evIn | evOut | evGone | evEdge
	}
	if c.armed == events && !r.naive {
		return true
	}
	if err := r.d.set(c.fd, events); err != nil {
		r.l.log.Error("watch connection", "err", err)
		r.l.destroy(c)
		return false
	}
	c.armed = events
	return true
}

func (r *reactor) close(c *conn) {
	if c.armed != 0 {
		if err := r.d.del(c.fd, !r.naive); err != nil {
			r.l.log.Error("unwatch connection", "err", err)
		}
	}
	sys.Close(c.fd)
	r.l.closed()
}

func (r *reactor) end() { r.d.close() }
