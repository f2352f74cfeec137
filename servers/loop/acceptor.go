package loop

import (
	"sync/atomic"

	"github.com/weighstone/weighstone/internal/sys"
)

// An acceptor is what a loop has that accepts for others: it hands them the
// connections in turn, and keeps none.
type acceptor struct {
	loops []*loop
	next  int

	out    atomic.Int64 // connections handed on that have not ended
	paused atomic.Bool  // none are accepted: the loop is to be told when one ends
}

// acceptFor makes l accept for loops, most connections at a time for all of
// them.
func (l *loop) acceptFor(loops []*loop, most int) {
	l.max = most
	l.acceptor = &acceptor{loops: loops}
	for _, to := range loops {
		to.source = l
	}
}

// choose returns the loop whose turn it is.
func (a *acceptor) choose() *loop {
	to := a.loops[a.next]
	a.next = (a.next + 1) % len(a.loops)
	a.out.Add(1)
	return to
}

// ended tells the loops that no more connections will come.
func (a *acceptor) ended() {
	for _, to := range a.loops {
		to.rouse()
	}
}

// receive queues a connection that source has accepted. It is called by that
// loop.
func (l *loop) receive(c *conn) {
	l.mu.Lock()
	ended := l.ended
	if !ended {
		l.arrived = append(l.arrived, c)
		if len(l.arrived) == 1 { // else the loop knows
			sys.Wake(l.wake)
		}
	}
	l.mu.Unlock()
	if ended {
		l.drop(c)
	}
}

// drop closes a connection that arrived and was never taken in.
func (l *loop) drop(c *conn) {
	l.slot.Conns[c.state].Add(-1)
	l.quota.Give(c.peer.Remote.Addr())
	sys.Close(c.fd)
	l.source.freed()
}

// freed tells a loop that accepts for others that one of their connections has
// ended.
func (l *loop) freed() {
	l.acceptor.out.Add(-1)
	if l.acceptor.paused.Load() {
		l.rouse()
	}
}

// fed says whether no connection will come any more from a loop that accepts for
// this one.
func (l *loop) fed() bool {
	if l.source == nil {
		return true
	}
	l.source.mu.Lock()
	ended := l.source.ended
	l.source.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return ended && len(l.arrived) == 0
}
