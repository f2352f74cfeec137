package loop

import "time"

// A transport is how connections and bytes reach a loop and leave it: by
// readiness, after which the loop makes the call itself (reactor.go), or by
// completion, where the kernel has made it already. It belongs to one loop, which
// keeps the states, the time limits and what a request means.
type transport interface {
	// start makes ready to wait, on the thread that will.
	start() error
	// wait waits for events, at most so long (negative: no limit), and returns
	// how many came. share says that goroutines work for the loop's
	// connections: waiting should leave them the processor at once.
	wait(timeout time.Duration, share bool) (events int, err error)
	// work goes on with what the last wait brought.
	work()

	// listen takes connections from a listening socket until unlisten. Some
	// that were taken before may come after it.
	listen(ln *listener) error
	unlisten(ln *listener) error
	// arrears says that operations on connections that the loop has closed, or
	// on listening sockets, are still going on.
	arrears() bool

	// watch asks for c's input, whether or not it was asked for before. It is
	// false when that can't be done and c is lost.
	watch(c *conn) bool
	// flush sends out and c.rest, and says whether c can go on: all is gone, or
	// sure to go without c waiting for it, which is enough if out is the last
	// for now. Else c is in the write state, and written is called when the
	// output is gone; or c is lost.
	flush(c *conn, out []byte, last bool) bool
	// awaitRoom has writable called when c's socket takes bytes again.
	awaitRoom(c *conn) bool
	// park has clientGone called if the client leaves before its parked exchange
	// is answered, and leaves its input where it is. It is false when that can't
	// be done and c is lost.
	park(c *conn) bool
	// await has look called once when fd, on which c's parked exchange waits, is
	// readable. It is false when that can't be done.
	await(c *conn, fd int) bool
	// forget ends an await that goes on.
	forget(c *conn)
	// lend calls hand when nothing of the loop reads or writes c any more, and
	// then clientGone if the client leaves.
	lend(c *conn)
	// unwatch ends the interest in a client that has left.
	unwatch(c *conn)
	// close closes c's descriptor and calls closed, at once or when nothing
	// holds it any more.
	close(c *conn)

	// end frees the transport.
	end()
}
