package flow

import (
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/wire"
)

// answer works off the requests in data, of which seen bytes were looked at
// before, and writes the replies together. rest is what is left of data for the
// next read to go on with.
func (f *Flow) answer(data []byte, seen int) (rest []byte, end wire.End) {
	f.out = f.out[:0]
	for len(data) > 0 {
		if f.skip > 0 {
			n := min(f.skip, int64(len(data)))
			f.skip -= n
			data = data[n:]
			continue
		}
		n, step := f.machine.Next(data, seen, &f.peer)
		if step == wire.NeedMore {
			break
		}
		seen = 0
		if step == wire.Leave {
			if !f.flush() {
				return nil, wire.Closed
			}
			if f.machine.Elsewhere() && f.crowd.handover != nil {
				f.handOver(data)
			}
			if data, end = f.exchange(data); end != wire.Keep {
				return nil, end
			}
			continue
		}
		data = data[n:]
		var keep bool
		f.out, f.rest, keep = f.machine.Reply(f.out, f.crowd.Draining())
		f.skip = f.machine.Unread()
		if (!keep || !f.rest.Empty() || len(f.out) > outputRoom) && !f.flush() {
			return nil, wire.Closed
		}
		if !keep {
			return nil, f.last(len(data) > 0)
		}
	}
	if !f.flush() {
		return nil, wire.Closed
	}
	return data, wire.Keep
}

// last says how the connection ends behind its last reply: if the client may
// still be sending, closing at once would answer that with a reset, which can
// destroy the reply on its way (RFC 9112 section 9.6).
func (f *Flow) last(more bool) wire.End {
	if more || !f.machine.AskedToClose() {
		return wire.Linger
	}
	return wire.Closed
}

// exchange carries out one exchange that may wait: so does this flow of control.
func (f *Flow) exchange(data []byte) (rest []byte, end wire.End) {
	if f.helper == nil {
		f.helper = wire.NewServer(f.crowd.config, f.slot)
	}
	f.enter(weighstone.StateHandler)
	f.crowd.enterHandler(1)
	gone := make(chan struct{})
	fd := f.conn.FD()
	f.crowd.leaves.watch(fd, gone)
	rest, end = f.helper.Serve(f.conn, data, &f.peer, gone, f.crowd.Draining)
	f.crowd.leaves.forget(fd)
	f.crowd.enterHandler(-1)
	f.conn.Resume()
	f.now = time.Now()
	// The next exchange may need the buffer that rest lies in.
	return f.in[:copy(f.in, rest)], end
}

// handOver gives the connection, of which ahead is to be answered next, to
// another program in place of this one. It returns only if that fails.
func (f *Flow) handOver(ahead []byte) {
	f.slot.Conns[f.state].Add(-1) // the other program will count it
	err := f.crowd.handover(weighstone.Handover{Conn: f.conn.FD(), Ahead: ahead, Answered: f.peer.Answered})
	f.slot.Conns[f.state].Add(1)
	f.crowd.Log.Error("hand a connection to another program", "error", err)
}

// overdue ends a connection that is over its limit. A client that began a
// request is told, and one that may still be sending is read to its end.
func (f *Flow) overdue(have int) wire.End {
	switch {
	case !f.halfClosed.IsZero(), f.state == weighstone.StateBody:
		return wire.Closed
	case have > 0:
		// One try: whoever is late with a head need not get the reply.
		n, _ := sendNow(f.conn.FD(), f.machine.Refuse(f.out[:0], http.StatusRequestTimeout), nil, false)
		f.slot.Sent(n)
	}
	return wire.Linger
}
