package loop

import (
	"runtime/debug"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// stateParked is the state of a connection whose exchange waits for another
// socket, in this loop: [weighstone.StateHandler] to everybody else. Its request
// is kept in c.in, and what comes behind that stays in the socket.
const stateParked = weighstone.ConnState(weighstone.NumStates)

// shown is a state as the counters have it.
func shown(s weighstone.ConnState) weighstone.ConnState {
	if s == stateParked {
		return weighstone.StateHandler
	}
	return s
}

// inHandler says that c's input is not the loop's to read.
func (c *conn) inHandler() bool { return c.state == weighstone.StateHandler || c.state == stateParked }

// park parks the exchange at the start of data, which the machine has just
// parsed, and says whether it could.
func (l *loop) park(c *conn, data []byte) bool {
	if c.wake == nil {
		c.wake = func() { l.prod(c) }
	}
	if c.parked = l.machine.Park(c.wake); c.parked == nil {
		return false
	}
	c.in = append(c.in[:0], data...)
	c.served, c.left = true, false
	l.enter(c, stateParked)
	if l.io.park(c) {
		l.look(c)
	}
	return true
}

// look goes on with a parked exchange, if it can go on.
func (l *loop) look(c *conn) {
	switch l.prospect(c.parked) {
	case weighstone.Waiting:
		if fd := c.parked.FD(); fd >= 0 && !l.io.await(c, fd) {
			l.turn(c)
		}
	case weighstone.Ready:
		l.io.forget(c)
		data := c.in
		c.in = nil
		l.answer(c, data, 0)
	default:
		l.turn(c)
	}
}

// prospect has p looked at. A panic is left to the goroutine, where it comes
// again and is answered for.
func (l *loop) prospect(p weighstone.Parked) (next weighstone.Prospect) {
	defer func() {
		if fault := recover(); fault != nil {
			l.log.Error("parked exchange panicked", "fault", fault, "stack", string(debug.Stack()))
			next = weighstone.Stuck
		}
	}()
	return p.Look()
}

// turn gives a parked exchange to a goroutine, which waits from there on.
func (l *loop) turn(c *conn) {
	l.io.forget(c)
	l.enter(c, weighstone.StateHandler)
	l.io.lend(c)
}

// unpark ends the parked exchange of a connection that is lost.
func (l *loop) unpark(c *conn) {
	if p := c.parked; p != nil {
		l.io.forget(c)
		c.parked = nil
		p.Drop()
	}
}

// prod has the loop look at c's parked exchange. Any goroutine may call it; if
// the loop is awake, as it is when its own work leads here, it costs no call.
func (l *loop) prod(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.prodded = append(l.prodded, c)
	if l.awake.CompareAndSwap(false, true) {
		sys.Wake(l.wake)
	}
}

// attend looks at the exchanges that were prodded. When it returns there are
// none, and the next one wakes the loop.
func (l *loop) attend() {
	for {
		l.mu.Lock()
		l.prodded, l.looking = l.looking[:0], l.prodded
		if len(l.looking) == 0 {
			l.awake.Store(false)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for i, c := range l.looking {
			l.looking[i] = nil
			if c.state == stateParked && l.conns[c.fd] == c {
				l.look(c)
			}
		}
	}
}
