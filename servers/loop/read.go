package loop

import (
	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/wire"
)

// answer works off the requests in data, of which seen bytes were looked at
// before, and writes the replies together. data is a buffer of the loop's
// or transport's, or one that c gave up.
func (l *loop) answer(c *conn, data []byte, seen int) {
	if l.stages != nil {
		l.submit(c, data, seen)
		return
	}
	out := l.out[:0]
	answered := false
	for len(data) > 0 && !c.closing {
		if c.skip > 0 {
			n := min(c.skip, int64(len(data)))
			c.skip -= n
			data = data[n:]
			continue
		}
		n, step := l.next(c, data, seen)
		if step == wire.NeedMore {
			break
		}
		if step == wire.Leave {
			if len(out) == 0 {
				if !l.park(c, data) {
					l.lend(c, data)
				}
				return
			}
			if !l.flush(c, out, false) {
				l.keep(c, data)
				return
			}
			out = l.out[:0]
			continue
		}
		seen = 0
		answered = true
		data = data[n:]
		var keep bool
		out, c.rest, keep = l.machine.Reply(out, l.draining.Load())
		c.skip = l.machine.Unread()
		c.served = true
		if !keep {
			c.closing = true
			c.linger = len(data) > 0 || !l.machine.AskedToClose()
		}
		if !c.rest.Empty() || len(out) > outputRoom {
			if !l.flush(c, out, false) {
				l.keep(c, data)
				return
			}
			out = l.out[:0]
		}
	}
	if len(out) > 0 && !l.flush(c, out, true) {
		l.keep(c, data)
		return
	}
	if c.closing {
		l.finish(c)
		return
	}
	l.rest(c, data, answered)
}

// next takes the next request from the start of data, as [wire.Machine.Next]
// does, or the one that was parked and can be answered now.
func (l *loop) next(c *conn, data []byte, seen int) (n int, step wire.Step) {
	p := c.parked
	if p == nil {
		return l.machine.Next(data, seen, &c.peer)
	}
	c.parked = nil
	return l.machine.Conclude(p, data, &c.peer), wire.Answered
}

// flush sends what answer has rendered and returns as the transport's flush
// does. out may have grown since it was l.out, and is not to be used again: the
// transport may have exchanged l.out for another buffer.
func (l *loop) flush(c *conn, out []byte, last bool) bool {
	l.out = out[:0]
	return l.io.flush(c, out, last)
}

// keep stores the input that waits for the output in front of it to leave.
func (l *loop) keep(c *conn, data []byte) {
	if l.conns[c.fd] == c {
		c.in = append(c.in[:0], data...)
	}
}

// rest leaves c waiting for input: of the request begun in data, or of the next.
// The time of a head runs from its first byte, that of a dropped body from its
// head's end; further bytes prolong neither.
func (l *loop) rest(c *conn, data []byte, answered bool) {
	state := weighstone.StateIdle
	switch {
	case c.skip > 0:
		state = weighstone.StateBody
	case len(data) > 0 || !c.served:
		state = weighstone.StateHead
	}
	if len(data) > 0 {
		c.in = append(c.in[:0], data...)
	} else {
		c.in = nil
	}
	if answered || c.state != state {
		l.enter(c, state)
	}
	l.io.watch(c)
}
