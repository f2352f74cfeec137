package loop

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// drainGrace is how long an idle connection of a draining server may still
// begin a request: a client that was about to send gets its answer, with
// Connection: close.
const drainGrace = time.Second

// drain does what is due of a drain and says whether it is finished.
func (l *loop) drain() bool {
	if !l.begun {
		l.begun = true
		l.grace = l.now.Add(drainGrace)
		l.sweep()
	}
	if l.cut.Load() {
		l.cutOff()
		return true
	}
	if !l.now.Before(l.grace) {
		l.closeIdle()
	}
	return l.count == 0 && !l.io.arrears() && l.fed()
}

// sweep accepts what waits in the queues, and then stops accepting. The
// listening sockets stay as they are: a successor may have them.
func (l *loop) sweep() {
	for i := range l.listeners {
		for l.accepting && l.accept(&l.listeners[i]) {
		}
	}
	l.pause(time.Time{})
}

// closeIdle half-closes the connections on which no request has begun, and
// leaves them to be read to their end.
func (l *loop) closeIdle() {
	for _, state := range []weighstone.ConnState{weighstone.StateIdle, weighstone.StateHead} {
		for c := l.lists[state].first; c != nil; {
			next := c.next
			if len(c.in) == 0 && !c.lent {
				c.closing, c.linger = true, true
				l.finish(c)
			}
			c = next
		}
	}
}

// cutOff closes every connection. Those that goroutines have are shut down, so
// that the goroutines end; giveBack then closes them.
func (l *loop) cutOff() {
	for i := range l.lists {
		for c := l.lists[i].first; c != nil; c = l.lists[i].first {
			if !c.lent {
				l.destroy(c)
				continue
			}
			// First, or a handler that gives up at once would still send a reply.
			if err := unix.Shutdown(c.fd, unix.SHUT_RDWR); err != nil {
				l.log.Debug("shut connection down", "err", err)
			}
			l.clientGone(c)
			l.lists[i].remove(c)
			l.slot.Conns[shown(c.state)].Add(-1)
			l.conns[c.fd] = nil
			l.count--
		}
	}
}

// end frees what the loop owns. Connections that come back later are closed by
// their goroutines.
func (l *loop) end() {
	l.mu.Lock()
	l.ended = true
	for i := range l.back {
		l.back[i].free()
	}
	arrived := l.arrived
	l.back, l.arrived = nil, nil
	sys.Close(l.wake)
	l.io.end()
	l.mu.Unlock()
	for _, c := range arrived {
		l.drop(c)
	}
	if l.acceptor != nil {
		l.acceptor.ended()
	}
}
