package loop

import "time"

// The events of a dispatcher; poll(2) and epoll(7) have the same bits for them.
const (
	evIn   = 0x001
	evOut  = 0x004
	evGone = 0x2000 // the client has ended its side (RDHUP); errors and resets come unasked
)

// More of epoll's alone.
const (
	evEdge      = 1 << 31 // told once, when it begins (EPOLLET)
	evOnce      = 1 << 30 // told once, and then nothing until it is asked for anew (EPOLLONESHOT)
	evExclusive = 1 << 28 // of a listening socket: told to one loop, not to all (EPOLLEXCLUSIVE)
)

// A dispatcher tells which descriptors are ready: the one part in which the
// event loops differ. It belongs to one loop.
type dispatcher interface {
	// set states the interest in fd, whether or not there was one before.
	set(fd int, events uint32) error
	// del ends the interest in fd. closing says that fd is closed next, which
	// takes it out of a set in the kernel anyhow.
	del(fd int, closing bool) error
	// once states the interest in the input of fd for one time. Its owner may
	// have closed it since the last one and got another by the same number.
	once(fd int) error
	// forget ends that interest: told says that the time has come.
	forget(fd int, told bool) error
	// wait returns the descriptors that are ready, after at most timeout
	// (negative: no limit). They are valid until the next wait, and stale
	// when an earlier one of the same batch led to a change. share says that
	// goroutines work for the loop's connections: waiting should leave them
	// the processor at once.
	wait(timeout time.Duration, share bool) (ready []int, err error)
	// close frees the dispatcher.
	close()
}
