package flow

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// Turn answers the requests that have begun on conn, and returns when none has:
// someone else waits for the next, closes the connection in the end, and has it
// in no list of the crowd. peer is the connection's, began when the time of the
// head began; it counts in the handler state of slot before and afterwards. Keep
// says that it is to be waited for, Linger that it is to be half-closed and read
// to its end.
func (f *Flow) Turn(conn Conn, peer *wire.Peer, began time.Time, slot *weighstone.Slot) wire.End {
	f.conn, f.peer = conn, *peer
	f.rested, f.skip = f.peer.Answered, 0
	f.state = weighstone.StateHead
	f.deadline = began.Add(f.limits.Header)
	f.slot.Conns[f.state].Add(1)
	slot.Conns[weighstone.StateHandler].Add(-1)
	end := f.turn()
	slot.Conns[weighstone.StateHandler].Add(1)
	f.slot.Conns[f.state].Add(-1)
	f.conn, *peer = nil, f.peer
	return end
}

func (f *Flow) turn() wire.End {
	n, errno := sys.ReadNow(f.conn.FD(), f.in)
	switch {
	case errno == unix.EAGAIN:
		return wire.Keep
	case errno != 0, n == 0: // a half-closed client has had its answers by now
		return wire.Closed
	}
	have, end := f.take(0, n)
	for end == wire.Keep && (have > 0 || f.skip > 0) {
		have, end = f.step(have)
	}
	return end
}
