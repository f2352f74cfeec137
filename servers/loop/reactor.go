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
}

func newReactor(l *loop, d dispatcher) *reactor { return &reactor{l: l, d: d} }

func (r *reactor) start() error { return r.d.set(r.l.wake, evIn) }

func (r *reactor) wait(timeout time.Duration, share bool) (events int, err error) {
	r.ready, err = r.d.wait(timeout, share)
	return len(r.ready), err
}

func (r *reactor) work() {
	for _, fd := range r.ready {
		r.handle(fd)
	}
}

// handle goes on with a descriptor on which something happened. What it was does
// not matter: the call that the state asks for finds out, and costs no more.
func (r *reactor) handle(fd int) {
	l := r.l
	if fd < len(l.conns) && l.conns[fd] != nil {
		c := l.conns[fd]
		switch c.state {
		case weighstone.StateHandler:
			l.clientGone(c)
		case weighstone.StateWrite:
			l.writable(c)
		case weighstone.StateLinger:
			r.discard(c)
		default:
			r.readable(c)
		}
		return
	}
	if fd == l.wake {
		l.takeBack()
		return
	}
	for i := range l.listeners {
		if ln := &l.listeners[i]; ln.fd == fd && l.accepting {
			l.accept(ln)
		}
	}
}

// readable reads once and answers what it can. Bytes that a connection has left
// from before go in front; a connection without any owns no buffer.
func (r *reactor) readable(c *conn) {
	l := r.l
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

// discard reads what a lingering client still sends.
func (r *reactor) discard(c *conn) {
	for range 4 { // a fast uploader must not keep the others waiting
		n, errno := sys.Read(c.fd, r.l.in)
		if errno == unix.EAGAIN {
			return
		}
		if errno != 0 || n == 0 {
			r.l.destroy(c)
			return
		}
	}
}

func (r *reactor) flush(c *conn, out []byte, _ bool) bool { return r.l.transmit(c, out) }

func (r *reactor) listen(ln *listener) error   { return r.d.set(ln.fd, evIn) }
func (r *reactor) unlisten(ln *listener) error { return r.d.del(ln.fd, false) }
func (r *reactor) arrears() bool               { return false }

func (r *reactor) watch(c *conn) bool     { return r.arm(c, evIn) }
func (r *reactor) awaitRoom(c *conn) bool { return r.arm(c, evOut) }

func (r *reactor) lend(c *conn) {
	if r.arm(c, evGone) {
		r.l.hand(c)
	}
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

// arm states the interest in c's descriptor, if it is not that already.
func (r *reactor) arm(c *conn, events uint32) bool {
	if c.armed == events {
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
		if err := r.d.del(c.fd, true); err != nil {
			r.l.log.Error("unwatch connection", "err", err)
		}
	}
	sys.Close(c.fd)
	r.l.closed()
}

func (r *reactor) end() { r.d.close() }
