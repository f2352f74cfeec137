package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// readable reads once and answers what it can. Bytes that a connection has left
// from before go in front; a connection without any owns no buffer.
func (l *loop) readable(c *conn) {
	kept := copy(l.in, c.in)
	n, errno := sys.Read(c.fd, l.in[kept:])
	switch {
	case errno == unix.EAGAIN:
		return
	case errno != 0, n == 0: // a half-closed client has had its answers by now
		l.destroy(c)
		return
	}
	l.answer(c, l.in[:kept+n], kept)
}

// answer works off the requests in data, of which seen bytes were looked at
// before, and writes the replies together. data is the loop's own buffer, or
// one that c gave up.
func (l *loop) answer(c *conn, data []byte, seen int) {
	out := l.out[:0]
	answered := false
	for len(data) > 0 && !c.closing {
		if c.skip > 0 {
			n := min(c.skip, int64(len(data)))
			c.skip -= n
			data = data[n:]
			continue
		}
		n, step := l.machine.Next(data, seen, &c.peer)
		if step == wire.NeedMore {
			break
		}
		if step == wire.Leave {
			if len(out) == 0 {
				l.lend(c, data)
				return
			}
			if !l.flush(c, out) {
				l.keep(c, data)
				return
			}
			out = out[:0]
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
			if !l.flush(c, out) {
				l.keep(c, data)
				return
			}
			out = out[:0]
		}
	}
	l.out = out[:0:cap(out)]
	if len(out) > 0 && !l.flush(c, out) {
		l.keep(c, data)
		return
	}
	if c.closing {
		l.finish(c)
		return
	}
	l.rest(c, data, answered)
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
	l.arm(c, evIn)
}
