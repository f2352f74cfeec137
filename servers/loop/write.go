package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// sendfileStep bounds one sendfile, in bytes, so that a fast reader of a large
// file does not keep the others waiting.
const sendfileStep = 512 << 10

// transmit writes out and c.rest at once, and says whether all is gone. What the
// socket does not take is kept by c, which then is in the write state, or lost
// with the connection.
func (l *loop) transmit(c *conn, out []byte) bool {
	n, errno := l.send(c, out)
	if errno != 0 && errno != unix.EAGAIN {
		l.destroy(c)
		return false
	}
	page := min(max(n-len(out), 0), len(c.rest.Page))
	out = out[min(n, len(out)):]
	c.rest.Page = c.rest.Page[page:]
	if len(out) == 0 && len(c.rest.Page) == 0 && errno == 0 {
		if c.rest.File == nil {
			return true
		}
		if done, ok := l.sendFile(c); done || !ok {
			return done
		}
	}
	c.out = append(c.out[:0], out...)
	l.enter(c, weighstone.StateWrite)
	l.io.awaitRoom(c)
	return false
}

// send makes one call for rendered bytes and what follows them.
func (l *loop) send(c *conn, out []byte) (n int, errno unix.Errno) {
	switch {
	case len(c.rest.Page) > 0:
		n, errno = sys.SendTwo(c.fd, out, c.rest.Page)
	case c.rest.File != nil:
		n, errno = sys.SendMore(c.fd, out)
	default:
		n, errno = sys.Send(c.fd, out)
	}
	l.slot.Sent(n)
	return n, errno
}

// sendFile moves some of c's file. done says that all of it is gone; ok is
// false when the connection is lost.
func (l *loop) sendFile(c *conn) (done, ok bool) {
	r := &c.rest
	n, errno := sys.Sendfile(c.fd, int(r.File.Fd()), &r.Offset, int(min(r.Length, sendfileStep)))
	l.slot.Sent(n)
	r.Length -= int64(n)
	switch {
	case errno == unix.EAGAIN:
		return false, true
	case errno != 0, n == 0: // the file has shrunk under us: the reply can't be completed
		l.destroy(c)
		return false, false
	case r.Length > 0:
		return false, true
	}
	r.File.Close()
	*r = wire.Rest{}
	return true, true
}

// writable goes on with output that the socket did not take before. Only bytes
// that leave prolong the write limit.
func (l *loop) writable(c *conn) {
	before := len(c.out) + len(c.rest.Page)
	offset := c.rest.Offset
	n, errno := 0, unix.Errno(0)
	if before > 0 {
		n, errno = l.send(c, c.out)
	}
	if errno == unix.EAGAIN {
		return
	}
	if errno != 0 {
		l.destroy(c)
		return
	}
	page := min(max(n-len(c.out), 0), len(c.rest.Page))
	c.out = c.out[min(n, len(c.out)):]
	c.rest.Page = c.rest.Page[page:]
	if len(c.out) == 0 && len(c.rest.Page) == 0 && c.rest.File != nil {
		if _, ok := l.sendFile(c); !ok {
			return
		}
	}
	if c.pending() {
		if n > 0 || c.rest.Offset != offset {
			l.enter(c, weighstone.StateWrite)
		}
		return
	}
	l.written(c)
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
