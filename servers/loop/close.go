package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// finish closes c after its last reply. If the client may still be sending, our
// side alone is closed, and what comes is read and dropped until its end:
// closing with input unread would send a reset, which can destroy the reply on
// its way (RFC 9112 section 9.6).
func (l *loop) finish(c *conn) {
	if c.doing(opSend) { // sooner would cut it off; it comes back here when it has ended
		l.enter(c, weighstone.StateWrite)
		return
	}
	if !c.linger {
		l.destroy(c)
		return
	}
	sys.HalfClose(c.fd)
	c.in = nil
	l.enter(c, weighstone.StateLinger)
	l.io.watch(c)
}

// destroy closes c's descriptor and forgets c.
func (l *loop) destroy(c *conn) {
	if l.conns[c.fd] != c {
		return
	}
	l.unpark(c)
	c.rest.Close()
	c.unmap()
	l.lists[c.state].remove(c)
	l.slot.Conns[shown(c.state)].Add(-1)
	l.conns[c.fd] = nil
	l.quota.Give(c.peer.Remote.Addr())
	l.io.close(c)
}

// closed is told that the descriptor of a forgotten connection is free.
func (l *loop) closed() {
	l.count--
	if l.source != nil {
		l.source.freed()
	}
	if !l.accepting {
		l.resume()
	}
}

// reset closes c so that the client sees it as a failure.
func (l *loop) reset(c *conn) {
	linger := unix.Linger{Onoff: 1, Linger: 0}
	if err := unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &linger); err != nil {
		l.log.Error("reset connection", "err", err)
	}
	l.destroy(c)
}
