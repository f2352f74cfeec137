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

// hold is how long a loop waits for events without a word to the Go scheduler,
// unless goroutines work for it: half as long as the runtime lets any goroutine
// run before it asks for its thread by a signal. A wait that the scheduler knows of costs a
// lone request some 45 us: the runtime's monitor takes the share of GOMAXPROCS
// away, the thread has to get it back, and finding all idle the monitor goes to
// sleep, to be woken by the next. At 4,300 requests a second of 64 clients, of
// which each finds the loop asleep, epoll took 102 us of CPU a request with it
// and takes 55 without; a loop in C takes 50, nginx 74.
const hold = 5 * time.Millisecond

// held is hold, or nothing when the processor is to be left to others.
func held(share bool) time.Duration {
	if share {
		return 0
	}
	return hold
}
