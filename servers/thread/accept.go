package thread

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/flow"
	"github.com/weighstone/weighstone/servers/wire"
)

const (
	// acceptLimit is how long one accept waits (SO_RCVTIMEO of the listening
	// socket), and so how late a thread may see that the server drains: nothing
	// else wakes it but shutting the socket down, which a successor may need.
	acceptLimit = 200 * time.Millisecond
	// shortage is how long accepting rests when descriptors run out.
	shortage = 200 * time.Millisecond
)

// A listener is a blocking listening socket. Any number of threads may wait in
// its accept; the kernel gives a connection to the one that has waited longest.
type listener struct {
	fd    int
	local netip.AddrPort
	crowd *flow.Crowd

	counted sync.Once    // when the server begins to drain
	left    atomic.Int64 // connections that waited then and are still to be taken
}

// An arrival is a connection just accepted.
type arrival struct {
	fd   int
	peer wire.Peer
	at   time.Time
}

// A found is what one accept came to.
type found uint8

const (
	nothing found = iota // for as long as one waits
	someone              // a connection
	noMore               // the server drains, and nobody is waiting
)

// listen makes the listening sockets blocking. That is a property of what they
// share with other processes and with a successor, which are of the same kind.
func listen(fds []int, crowd *flow.Crowd) ([]*listener, error) {
	var all []*listener
	for _, fd := range fds {
		if err := unix.SetNonblock(fd, false); err != nil {
			return nil, fmt.Errorf("make a listener blocking: %w", err)
		}
		if errno := sys.SetTimeout(fd, unix.SO_RCVTIMEO, acceptLimit); errno != 0 {
			return nil, fmt.Errorf("limit an accept: %w", errno)
		}
		all = append(all, &listener{fd: fd, local: sys.LocalAddr(fd), crowd: crowd})
	}
	return all, nil
}

// accept takes one connection.
func (l *listener) accept() (a arrival, _ found) {
	if l.crowd.Cut() || l.crowd.Draining() && !l.owed() {
		return a, noMore
	}
	fd, remote, errno := sys.AcceptWait(l.fd)
	switch errno {
	case 0:
		if !l.crowd.Welcome(fd, remote) {
			return a, nothing
		}
		local := l.local
		if local.Addr().IsUnspecified() {
			local = sys.LocalAddr(fd)
		}
		return arrival{fd: fd, peer: wire.Peer{Local: local, Remote: remote}, at: time.Now()}, someone
	case unix.EAGAIN, unix.EINTR, unix.ECONNABORTED: // the last: it failed before we took it
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		l.crowd.Log.Warn("accept: pausing", "err", errno)
		time.Sleep(shortage)
	default:
		l.crowd.Log.Warn("accept", "err", errno)
	}
	return a, nothing
}

// owed says whether one of the connections that were in the queue when the drain
// began is still to be taken. Those behind them are a successor's: a server that
// is slower than they come would never see the end of the queue.
func (l *listener) owed() bool {
	l.counted.Do(func() { l.left.Store(int64(sys.QueueLength(l.fd))) })
	return l.left.Add(-1) >= 0 && l.waiting()
}

// waiting says whether a connection is in the queue.
func (l *listener) waiting() bool {
	n, _ := sys.Poll([]unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}, 0, 0)
	return n > 0
}
