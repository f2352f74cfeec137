package loop

import (
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// lingerLimit is how long a client may go on sending after we closed our side.
const lingerLimit = 10 * time.Second

// limit returns how long a connection may stay in a state, 0 for as long as it
// likes (its goroutine keeps the time).
func (l *loop) limit(state weighstone.ConnState) time.Duration {
	switch state {
	case weighstone.StateIdle:
		return l.limits.Idle
	case weighstone.StateHead:
		return l.limits.Header
	case weighstone.StateBody:
		return l.limits.Body
	case weighstone.StateWrite:
		return l.limits.Write
	case weighstone.StateLinger:
		return lingerLimit
	case stateParked:
		return weighstone.MaxParked
	}
	return 0
}

// timeout returns how long the loop may wait: until the first connection of any
// list is over its limit, accepting goes on, or a drain's grace ends.
func (l *loop) timeout() time.Duration {
	wait := time.Duration(-1)
	until := func(t time.Time) {
		if d := max(t.Sub(l.now), 0); wait < 0 || d < wait {
			wait = d
		}
	}
	for i := range l.lists {
		if c := l.lists[i].first; c != nil && weighstone.ConnState(i) != weighstone.StateHandler {
			until(c.since.Add(l.limit(weighstone.ConnState(i))))
		}
	}
	if !l.retry.IsZero() {
		until(l.retry)
	}
	if l.begun && l.now.Before(l.grace) {
		until(l.grace)
	}
	return wait
}

// expire ends the connections that are over their limits. Each list is in the
// order of its deadlines, so only its front is looked at.
func (l *loop) expire() {
	for i := range l.lists {
		state := weighstone.ConnState(i)
		limit := l.limit(state)
		if limit == 0 {
			continue
		}
		for c := l.lists[i].first; c != nil && l.now.Sub(c.since) >= limit; c = l.lists[i].first {
			if c.lent {
				c.late, c.was = true, state
				l.enter(c, weighstone.StateHandler)
				continue
			}
			l.overdue(c)
		}
	}
	if !l.retry.IsZero() && !l.now.Before(l.retry) {
		l.resume()
	}
}

// overdue ends one connection. A client that began a request is told; one that
// still sends is read to its end.
func (l *loop) overdue(c *conn) {
	switch c.state {
	case weighstone.StateHead:
		c.closing, c.linger = true, true
		if len(c.in) > 0 && !c.doing(opSend) {
			// One try: whoever is late with a head need not get the reply.
			n, _ := sys.Send(c.fd, l.machine.Refuse(l.out[:0], http.StatusRequestTimeout))
			l.slot.Sent(n)
		}
		l.finish(c)
	case weighstone.StateIdle:
		c.closing, c.linger = true, true
		l.finish(c)
	case stateParked:
		l.turn(c)
	default:
		l.destroy(c)
	}
}
