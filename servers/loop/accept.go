package loop

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// acceptBatch bounds the connections taken at one event, unless told otherwise,
// so that a flood of them does not keep the others waiting.
const acceptBatch = 64

// shortage is how long accepting rests when descriptors run out and no
// connection of ours ends meanwhile.
const shortage = time.Second

// A listener is a listening socket and the address it is bound to.
type listener struct {
	fd    int
	local netip.AddrPort

	accepting bool // proactor: an accept goes on
}

// accept takes connections from a listening socket until there is none, the
// batch is full or the server is. It says whether more may be waiting.
func (l *loop) accept(ln *listener) (more bool) {
	for n := 0; l.knobs.AcceptBatch < 0 || n < l.knobs.AcceptBatch; n++ {
		if l.full() {
			l.pause(time.Time{})
			if l.full() || l.begun {
				return false
			}
			l.resume() // another thread has made room, and may not have seen the pause
		}
		fd, remote, errno := l.take(ln.fd)
		switch {
		case errno == unix.EAGAIN:
			return false
		case errno != 0:
			if !l.refused(errno) {
				return false
			}
		case l.below > 0 && fd >= l.below:
			l.tooHigh(fd)
			return false
		default:
			l.welcome(ln, fd, remote)
		}
	}
	return true
}

// full says whether no more connections are to be accepted for now.
func (l *loop) full() bool {
	switch {
	case l.acceptor != nil:
		return l.acceptor.out.Load() >= int64(l.max)
	case l.crew != nil && l.crew.Busy():
		return true
	}
	return l.count >= l.max
}

// take accepts a connection: a blocking socket if threads are to wait on it.
func (l *loop) take(fd int) (conn int, remote netip.AddrPort, errno unix.Errno) {
	if l.crew != nil {
		return sys.AcceptBlocking(fd)
	}
	return sys.Accept(fd)
}

// welcome makes a connection of a descriptor accepted from ln, unless its client
// has as many as it may.
func (l *loop) welcome(ln *listener, fd int, remote netip.AddrPort) {
	if !l.quota.Take(remote.Addr()) {
		l.slot.Refused.Add(1) // before the client can see it
		sys.Close(fd)
		return
	}
	local := ln.local
	if local.Addr().IsUnspecified() {
		local = sys.LocalAddr(fd)
	}
	l.add(fd, wire.Peer{Local: local, Remote: remote})
}

// refused deals with an accept that failed, and says whether the next may do
// better at once.
func (l *loop) refused(errno unix.Errno) bool {
	switch errno {
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		l.log.Warn("accept: pausing", "err", errno, "connections", l.count)
		l.pause(l.now.Add(shortage))
		return false
	case unix.ECONNABORTED: // it failed before we took it (accept(2), "Error handling")
	default:
		l.log.Warn("accept", "err", errno)
	}
	return true
}

// tooHigh refuses a connection whose descriptor can't be waited for, as Boa did,
// and accepts no more until one of ours ends.
func (l *loop) tooHigh(fd int) {
	l.log.Warn("accept: pausing, and one connection closed", "descriptor", fd, "limit", l.below, "connections", l.count)
	sys.Close(fd)
	l.pause(l.now.Add(shortage))
}

// add makes a connection of an accepted descriptor, for this loop or, if it
// accepts for others, for the one whose turn it is.
func (l *loop) add(fd int, peer wire.Peer) {
	to := l
	if l.acceptor != nil {
		to = l.acceptor.choose()
	}
	c := &conn{fd: fd, state: weighstone.StateHead, since: l.now, peer: peer}
	to.slot.Accepted.Add(1)
	to.slot.Conns[c.state].Add(1)
	if to == l {
		l.adopt(c)
	} else {
		to.receive(c)
	}
}

// adopt takes a new connection in.
func (l *loop) adopt(c *conn) {
	for c.fd >= len(l.conns) {
		l.conns = append(l.conns, make([]*conn, len(l.conns)+64)...)
	}
	l.conns[c.fd] = c
	c.born = l.turns
	l.lists[c.state].push(c)
	l.count++
	l.io.watch(c)
}

// pause stops accepting, until a connection ends or the time given.
func (l *loop) pause(until time.Time) {
	l.retry = until
	if !l.accepting {
		return
	}
	l.setAccepting(false)
	for i := range l.listeners {
		if err := l.io.unlisten(&l.listeners[i]); err != nil {
			l.log.Error("unwatch listener", "err", err)
		}
	}
}

// resume accepts again.
func (l *loop) resume() {
	l.retry = time.Time{}
	if l.accepting || l.begun {
		return
	}
	l.setAccepting(true)
	for i := range l.listeners {
		if err := l.io.listen(&l.listeners[i]); err != nil {
			l.log.Error("watch listener", "err", err)
		}
	}
}

func (l *loop) setAccepting(on bool) {
	l.accepting = on
	if l.acceptor != nil {
		l.acceptor.paused.Store(!on)
	}
}
