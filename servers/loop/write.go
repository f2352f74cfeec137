package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// transmit writes out and c.rest at once, and says whether all is gone. What the
// socket does not take is kept by c, which then is in the write state, or lost
// with the connection.
func (l *loop) transmit(c *conn, out []byte) bool {
	if !c.rest.Empty() && !l.prepare(c) {
		return false
	}
	left, errno := l.push(c, out)
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		l.destroy(c)
		return false
	case len(left) == 0 && c.rest.Empty():
		l.settle(c)
		return true
	}
	c.out = append(c.out[:0], left...)
	l.enter(c, weighstone.StateWrite)
	if c.cold {
		l.fetch(c)
	} else {
		l.io.awaitRoom(c)
	}
	return false
}

// push sends of out and c.rest what one call takes, or two where head and body
// have calls of their own, and returns what is left of out.
func (l *loop) push(c *conn, out []byte) (left []byte, errno unix.Errno) {
	if len(out)+len(c.rest.Page) > 0 {
		var n int
		if n, errno = l.send(c, out); errno != 0 {
			return out, errno
		}
		page := min(max(n-len(out), 0), len(c.rest.Page))
		out = out[min(n, len(out)):]
		c.rest.Page = c.rest.Page[page:]
	}
	if len(out) == 0 && len(c.rest.Page) == 0 && c.rest.File != nil {
		errno = l.sendFile(c)
	}
	return out, errno
}

// send sends rendered bytes and what follows them in memory. c.blocked says
// whether the socket was full at the end.
func (l *loop) send(c *conn, out []byte) (n int, errno unix.Errno) {
	page := c.rest.Page
	switch {
	case len(page) > 0 && l.knobs.Send == weighstone.SendCork:
		if n, errno = sys.Send(c.fd, out); errno != 0 || n < len(out) {
			break
		}
		var more int
		if more, errno = sys.Send(c.fd, page); errno == unix.EAGAIN && n > 0 {
			errno = 0
		}
		n += more
	case len(page) > 0:
		n, errno = sys.SendTwo(c.fd, out, page)
	case c.rest.File != nil && l.knobs.Send != weighstone.SendCork:
		n, errno = sys.SendMore(c.fd, out)
	default:
		n, errno = sys.Send(c.fd, out)
	}
	c.blocked = errno == unix.EAGAIN
	l.slot.Sent(n)
	return n, errno
}

// writable goes on with output that the socket did not take before. Only bytes
// that leave prolong the write limit.
func (l *loop) writable(c *conn) {
	before := c.unsent()
	left, errno := l.push(c, c.out)
	c.out = left
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		l.destroy(c)
	case !c.pending():
		l.settle(c)
		l.written(c)
	default:
		if c.unsent() < before {
			l.enter(c, weighstone.StateWrite)
		}
		if c.cold {
			l.fetch(c)
		}
	}
}

// written goes on with c when its output is gone: it closes, or answers what
// had been read meanwhile.
func (l *loop) written(c *conn) {
	c.out = nil
	if c.closing {
		l.finish(c)
		return
	}
	data := c.in
	c.in = nil
	l.answer(c, data, 0)
}
