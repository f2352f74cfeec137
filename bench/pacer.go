package bench

import "time"

// A Pacer says when a worker's n-th request is due, counting from 0, given
// when the exchange that freed its client ended (0 for a client's first). Both
// times run from the start of the run.
//
// A closed loop answers from done, an open loop ignores it: that is the whole
// difference between the two. A request that is due already leaves at once
// and is late; its sample counts from when it was due. One worker uses a
// pacer, and calls it for n in order.
type Pacer interface {
	// Due returns when, and whether there is such a request at all: after
	// the first false the worker starts no more.
	Due(n uint64, done time.Duration) (at time.Duration, more bool)
}

// Closed is the pacer of a closed loop: a client sends its next request Think
// after the last one ended.
type Closed struct{ Think time.Duration }

// Due implements [Pacer].
func (c Closed) Due(_ uint64, done time.Duration) (time.Duration, bool) {
	if done == 0 {
		return 0, true
	}
	return done + c.Think, true
}
