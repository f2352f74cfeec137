package load

import (
	"github.com/weighstone/weighstone/bench"
	"golang.org/x/sys/unix"
)

// finish ends the oldest exchange with a complete reply, after which extra
// more bytes have come. view is what is at hand of the reply, with these.
func (w *worker) finish(c *client, view []byte, extra int) {
	r, x := &c.reply, c.at(0)
	fault := w.judge(c, x)
	if extra > 0 && (c.rendered == 1 || !r.keep) {
		fault = bench.FaultMalformed // bytes that nobody asked for
	}
	if fault != bench.FaultNone {
		w.note(c, fault, view, 0)
	}
	done, last := w.crossed(c, x), x.ask.Last
	w.record(c, fault)
	c.answered++
	keep := r.keep
	if keep {
		w.counts.kept++
	}
	r.reset()
	switch {
	case fault == bench.FaultMalformed:
		w.drop(c)
	case !keep || last || w.config.PerConn > 0 && c.answered >= w.config.PerConn:
		w.release(c, keep)
	}
	w.free(c, done, false)
	if c.state == connNone && c.count > 0 {
		w.pump(c)
	}
}

// record counts the oldest exchange and drops it.
func (w *worker) record(c *client, fault bench.Fault) {
	r, x := &c.reply, c.at(0)
	s := &x.sample
	s.Last = w.now - s.Due
	if r.bytes > 0 {
		s.First = r.first - s.Due
	}
	if s.Sent == 0 {
		s.Sent = max(s.First, s.Started)
	}
	s.BytesIn, s.Body, s.Status, s.Fault = r.bytes, r.body, r.status, fault
	if x.ask.Judge != nil {
		x.ask.Judge.Done(s)
	}
	w.tally.Add(s)
	c.pop()
}

// fail ends the oldest exchange with a fault that costs the connection, and
// closes it. What else was under way on it is asked again. view is what is at
// hand of the reply, errno what the kernel said, if it did.
func (w *worker) fail(c *client, fault bench.Fault, view []byte, errno unix.Errno) {
	w.note(c, fault, view, errno)
	w.record(c, fault)
	w.drop(c)
	done := w.now
	if fault == bench.FaultRefused || fault == bench.FaultLocal {
		done += backoff
	}
	w.free(c, done, true)
	if c.count > 0 {
		w.later.push(appointment{at: done, due: pumpOnly, client: c.index})
	}
}

// ended deals with the end of the stream.
func (w *worker) ended(c *client) {
	r := &c.reply
	switch {
	case c.rendered == 0:
		w.counts.closedByServer++
		w.drop(c)
	case r.phase == phaseUntilClose:
		w.counts.closedByServer++
		w.closedReply(c)
	case c.broken != 0 && c.broken != unix.EPIPE:
		w.lost(c, c.broken)
	case w.stale(c):
	default:
		w.counts.closedByServer++
		w.fail(c, bench.FaultShort, nil, 0)
	}
}

// closedReply finishes a reply that ended with the connection.
func (w *worker) closedReply(c *client) {
	done := w.crossed(c, c.at(0))
	fault := w.judge(c, c.at(0))
	if fault != bench.FaultNone {
		w.note(c, fault, nil, 0)
	}
	w.record(c, fault)
	w.drop(c)
	w.free(c, done, false)
	if c.state == connNone && c.count > 0 {
		w.pump(c)
	}
}

// lost deals with an error of the connection.
func (w *worker) lost(c *client, errno unix.Errno) {
	if c.rendered == 0 {
		w.counts.closedByServer++
		w.drop(c)
		return
	}
	if errno == unix.EPIPE && w.stale(c) {
		return
	}
	w.counts.closedByServer++
	w.fail(c, lostFault(errno), nil, errno)
}

// stale asks again, once, what was sent on a kept connection that the server
// had closed meanwhile, as clients do (RFC 9112 section 9.3.1): its end came
// before any byte of a reply. A reset is not taken for that, and what may not
// be done twice is not asked again (RFC 9110 section 9.2.2). Whether the server
// had read the request can't be seen here, so a result says how many there were.
func (w *worker) stale(c *client) bool {
	x := c.at(0)
	if c.answered == 0 && !c.ahead || c.reply.bytes > 0 || x.retried || !idempotent(x.ask.Method) {
		return false
	}
	x.retried = true
	if x.sample.Due >= w.from {
		w.counts.stale++
	}
	w.counts.closedByServer++
	w.drop(c)
	w.later.push(appointment{at: w.now, due: pumpOnly, client: c.index})
	return true
}

// idempotent says whether a request with this method may be sent twice (RFC
// 9110 section 9.2.2).
func idempotent(method string) bool {
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}
