package loop

import (
	"slices"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/park"
	"github.com/weighstone/weighstone/servers/wire"
)

// A returned connection comes back from whoever had it.
type returned struct {
	c    *conn
	from who
	rest []byte // of the next request; from a helper, what it has read
	end  wire.End
	job  *job // of the stages
}

// A who is one that a connection comes back from.
type who uint8

const (
	goroutine who = iota // that served an exchange
	helper               // that read of its file; the descriptor stayed the loop's
	stages               // that answered
)

// lend gives c to a goroutine for one exchange that may wait: descriptor, the
// bytes read and all. The loop only watches whether the client leaves.
func (l *loop) lend(c *conn, data []byte) {
	c.in = slices.Clone(data)
	c.served = true
	l.enter(c, weighstone.StateHandler)
	l.io.lend(c)
}

// hand starts the goroutine that has c from now on, and with it c.in and what is
// parked.
func (l *loop) hand(c *conn) {
	in, parked := c.in, c.parked
	c.in, c.parked = nil, nil
	gone := make(chan struct{})
	c.gone, c.lent = gone, true
	if c.left {
		c.left = false
		close(gone)
	}
	go func() {
		server := l.helpers.Get().(*wire.Server)
		conn := park.Lend(c.fd, l.limits.Write)
		rest, end := server.Conclude(parked, conn, in, &c.peer, gone, l.draining.Load)
		conn.Close()
		rest = slices.Clone(rest)
		l.helpers.Put(server)
		l.giveBack(returned{c: c, rest: rest, end: end})
	}()
}

// clientGone tells the goroutine that has c, or will have, if it is one that
// listens.
func (l *loop) clientGone(c *conn) {
	l.io.unwatch(c)
	if c.gone == nil {
		c.left = true
		return
	}
	select {
	case <-c.gone:
	default:
		close(c.gone)
	}
}

// giveBack queues a connection for the loop and wakes it. It is called by the
// goroutine; after the loop's end nobody else closes the descriptor.
func (l *loop) giveBack(r returned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		r.free()
		return
	}
	l.back = append(l.back, r)
	if len(l.back) == 1 { // else the loop knows
		sys.Wake(l.wake)
	}
}

// rouse ends the loop's wait.
func (l *loop) rouse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		sys.Wake(l.wake)
	}
}

// takeBack goes on with the connections that came back, and takes in those that
// another loop has accepted.
func (l *loop) takeBack() {
	sys.ClearWake(l.wake)
	l.mu.Lock()
	l.back, l.working = l.working[:0], l.back
	l.arrived, l.adopting = l.adopting[:0], l.arrived
	l.mu.Unlock()
	for i, c := range l.adopting {
		l.adopting[i] = nil
		l.adopt(c)
	}
	for i := range l.working {
		r := l.working[i]
		l.working[i] = returned{}
		switch r.from {
		case goroutine:
			r.c.gone, r.c.lent = nil, false
			r.c.served = r.c.served || r.c.peer.Answered > 0
			l.goOn(r.c, r.rest, r.end)
		case helper:
			l.fetched(r.c, r.rest)
		case stages:
			l.staged(r.c, r.job)
		}
	}
	if !l.accepting && l.retry.IsZero() && (l.acceptor != nil || l.crew != nil) && !l.full() {
		l.resume()
	}
}

// goOn goes on with a connection on which an exchange has ended.
func (l *loop) goOn(c *conn, rest []byte, end wire.End) {
	switch end {
	case wire.Keep:
		l.answer(c, rest, 0)
	case wire.Linger:
		c.closing, c.linger = true, true
		l.finish(c)
	case wire.Abort:
		l.reset(c)
	case wire.Closed:
		l.destroy(c)
	}
}

// free closes the descriptor of a connection that nobody takes back.
func (r *returned) free() {
	if r.from == stages {
		r.c.rest.Close()
	}
	if r.from != helper {
		sys.Close(r.c.fd)
	}
}
