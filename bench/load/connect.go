package load

import (
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// interest is edge-triggered for both directions, so that a connection costs
// one epoll_ctl in its life.
const interest = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET

// pump connects c if need be, and writes what is not written yet.
func (w *worker) pump(c *client) {
	switch c.state {
	case connNone:
		w.connect(c)
		return
	case connConnecting:
		return
	}
	most := w.config.PerConn
	for c.rendered < c.count && (most == 0 || c.issued < most) {
		x := c.at(c.rendered)
		if c.issued == 0 && !c.ahead {
			x.sample.Connected = c.connected - x.sample.Due
		}
		c.issued++
		before := len(c.out)
		c.out = w.render.request(c.out, &x.ask, c.issued == most || x.ask.Last)
		w.counts.sent += uint64(len(c.out) - before)
		c.rendered++
	}
	if !c.corked {
		w.flush(c)
	}
}

// connect begins a connection for c.
func (w *worker) connect(c *client) {
	if len(w.spares) > 0 && !(c.count > 0 && c.at(0).retried) { // the next one may be stale as well
		w.takeSpare(c)
		return
	}
	fd, errno := w.dialer.dial()
	if fd < 0 {
		w.noteNoPort(errno)
		w.fail(c, connectFault(errno), nil, errno)
		return
	}
	c.fd, c.state = fd, connConnecting
	c.life++
	w.own(fd, c.index)
	if e := sys.EpollCtl(w.epfd, unix.EPOLL_CTL_ADD, fd, interest); e != 0 {
		w.fail(c, bench.FaultLocal, nil, e)
		return
	}
	if errno == 0 {
		w.opened(c)
	}
}

// connectEnded deals with the first event of a connection.
func (w *worker) connectEnded(c *client, events uint32) {
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		// Without an error it was connected and has been closed since.
		if errno := sys.SocketError(c.fd); errno != 0 {
			w.clock()
			w.fail(c, connectFault(errno), nil, errno)
			return
		}
	}
	w.opened(c)
	if c.state == connOpen && events&^unix.EPOLLOUT != 0 {
		w.readable(c, events)
	}
}

func (w *worker) opened(c *client) {
	w.counts.connections++
	c.state, c.connected = connOpen, w.clock()
	w.pump(c)
}

// flush sends what is in c's buffer as far as the socket takes it. A failure is
// kept for later: the server may have answered before it stopped reading, and
// the event of the failure has what it sent read first.
func (w *worker) flush(c *client) {
	for c.outOff < len(c.out) {
		n, errno := sys.Send(c.fd, c.out[c.outOff:])
		if errno == unix.EAGAIN {
			return
		}
		if errno != 0 {
			c.broken = errno
			break
		}
		c.outOff += n
	}
	c.out, c.outOff = c.out[:0], 0
	if c.stamped < c.rendered {
		w.clock()
	}
	for ; c.stamped < c.rendered; c.stamped++ {
		s := &c.at(c.stamped).sample
		s.Sent = w.now - s.Due
	}
}

// drop closes c's connection, if it has one, at once.
func (w *worker) drop(c *client) {
	if c.fd >= 0 {
		w.owners[c.fd] = ownerNone
		sys.Close(c.fd)
	}
	c.disconnect()
}

// A closer is a connection that has done its work and waits for the server to
// close it.
type closer struct {
	fd    int
	until time.Duration
}

// release parts c from its connection after a complete reply. keep says that
// the server would go on; else the server closes first, unless it must not.
func (w *worker) release(c *client, keep bool) {
	if keep || w.config.CloseFirst {
		w.counts.closedByClient++
		w.drop(c)
		return
	}
	if w.hung {
		w.counts.closedByServer++
		w.drop(c)
		return
	}
	w.owners[c.fd] = ownerCloser - int32(len(w.closers))
	w.closers = append(w.closers, closer{c.fd, w.now + lingering})
	c.disconnect()
}

// closerHappened deals with the events of closers[i]: the server closes it, or
// has more to say than its last reply was to have.
func (w *worker) closerHappened(i int, events uint32) {
	if n, _ := sys.Read(w.closers[i].fd, w.buf); n > 0 {
		w.counts.stray++
		w.bury(i)
		return
	}
	if events&hangup != 0 {
		w.counts.closedByServer++
		w.bury(i)
	}
}

// bury closes closers[i].
func (w *worker) bury(i int) {
	w.owners[w.closers[i].fd] = ownerNone
	sys.Close(w.closers[i].fd)
	last := len(w.closers) - 1
	if i < last {
		w.closers[i] = w.closers[last]
		w.owners[w.closers[i].fd] = ownerCloser - int32(i)
	}
	w.closers = w.closers[:last]
}
