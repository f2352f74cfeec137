package sys

import "time"

// OpenPoller has the Go runtime open its poller now, which takes two
// descriptors for good. A server whose descriptors the runtime does not poll
// calls it before it accepts: the runtime opens the poller at the first timer
// of the program, also one of its own, and ends the program if no descriptor
// is left for it ("netpollinit failed", runtime/netpoll_epoll.go).
func OpenPoller() {
	// A timer with a channel that nobody waits for would not be armed.
	time.AfterFunc(time.Hour, func() {}).Stop()
}
