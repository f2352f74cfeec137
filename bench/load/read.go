package load

import (
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// hangup are the events of a connection that the server has ended, in one way
// or the other.
const hangup = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR

// readable reads what has come for c. With edge-triggered events, a read that
// fills less than the buffer has taken everything, but for the end of the
// stream, which has an event of its own.
func (w *worker) readable(c *client, events uint32) {
	life := c.life
	if c.hangups |= events & hangup; c.sipping {
		return
	}
	w.hung = c.hangups != 0
	for {
		n, errno := sys.Read(c.fd, w.buf)
		w.clock()
		switch {
		case errno == unix.EAGAIN:
			return
		case errno != 0:
			w.lost(c, errno)
			return
		case n == 0:
			w.ended(c)
			return
		}
		w.feed(c, w.buf[:n])
		if c.life != life || c.state != connOpen {
			return
		}
		if rate := w.config.ReadRate; rate > 0 {
			c.sipping = true
			after := time.Duration(n) * time.Second / time.Duration(rate)
			w.later.push(appointment{at: w.now + after, due: sip, client: c.index, life: life})
			return
		}
		if n < len(w.buf) && !w.hung {
			return
		}
	}
}

// sipAgain has a slow reader read on, if its connection is still the one.
func (w *worker) sipAgain(c *client, life uint32) {
	if c.life != life || c.state != connOpen || !c.sipping {
		return
	}
	c.sipping = false
	w.readable(c, 0)
}

// feed takes bytes that have come on c's connection: replies or parts of them,
// in the order of the requests.
func (w *worker) feed(c *client, b []byte) {
	life := c.life
	c.corked = true
	for start := b; len(b) > 0; start = b {
		if c.rendered == 0 {
			w.unasked(b)
			w.drop(c)
			return
		}
		var done bool
		var err error
		if b, done, err = w.take(c, b); err != nil {
			w.fail(c, bench.FaultMalformed, start, 0)
			return
		}
		if !done {
			w.remember(c, start)
			break
		}
		if w.finish(c, start, len(b)); c.life != life || c.state != connOpen {
			return
		}
	}
	c.corked = false
	w.flush(c)
}

// unasked counts a connection on which bytes came though nothing was under
// way. Some servers say 408 before they close one that was idle (RFC 9110
// section 15.5.9).
func (w *worker) unasked(b []byte) {
	const line = "HTTP/1.1 408"
	if len(b) >= len(line) && string(b[:7]) == line[:7] && string(b[8:len(line)]) == line[8:] {
		w.counts.closedByServer++
		return
	}
	w.counts.stray++
}

// take consumes bytes of the oldest exchange's reply and returns what is left
// of b, and whether the reply is complete.
func (w *worker) take(c *client, b []byte) (rest []byte, done bool, err error) {
	r := &c.reply
	if r.bytes == 0 {
		r.first = w.now
	}
	for r.phase == phaseHead {
		n, err := w.takeHead(c, b)
		if n == 0 || err != nil {
			return nil, false, err
		}
		b = b[n:]
		if r.left == 0 && r.phase == phaseFixed {
			return b, true, nil
		}
	}
	for len(b) > 0 && !done {
		data, n := b, len(b)
		switch r.phase {
		case phaseFixed:
			data = b[:min(int64(len(b)), r.left)]
			n = len(data)
			r.left -= int64(n)
			done = r.left == 0
		case phaseChunked:
			if data, n, done, err = r.chunks.Next(b); err != nil {
				return nil, false, err
			}
		}
		b = b[n:]
		r.bytes += int64(n)
		r.body += int64(len(data))
		if r.hashing {
			r.hash.Write(data)
		}
		if judge := c.at(0).ask.Judge; judge != nil {
			judge.Body(data)
		}
	}
	return b, done, nil
}

// takeHead consumes a head, or an interim reply's, and returns how many bytes
// of b belong to it; 0 when it needs more than b has.
func (w *worker) takeHead(c *client, b []byte) (n int, err error) {
	r := &c.reply
	x := c.at(0)
	whole := b
	if len(r.part) > 0 {
		r.part = append(r.part, b...)
		whole = r.part
	}
	n, err = w.resp.Parse(whole, x.ask.Head(), &w.limits)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		if len(r.part) == 0 {
			r.part = append(r.part, b...)
		}
		r.bytes += int64(len(b))
		return 0, nil
	}
	n -= len(whole) - len(b)
	r.part = r.part[:0]
	r.bytes += int64(n)
	w.begun(c, x)
	return n, nil
}

// begun enters the body behind the head in w.resp.
func (w *worker) begun(c *client, x *exchange) {
	r, head := &c.reply, &w.resp
	if head.Status < 200 && head.Status != 101 {
		return // interim: the reply is still to come
	}
	if !w.named {
		w.named, w.software = true, string(head.Fields.Get("Server"))
	}
	r.status, r.keep, r.left, r.stated = uint16(head.Status), head.KeepAlive, head.Length, head.Length
	switch head.Length {
	case http1.Chunked:
		r.phase = phaseChunked
		r.chunks = http1.Chunks{}
	case http1.UntilClose:
		r.phase = phaseUntilClose
	default:
		r.phase = phaseFixed
	}
	if x.ask.Head() {
		r.stated = statedLength(head)
	}
	if x.ask.Judge != nil {
		x.ask.Judge.Head(head.Status, &head.Fields)
	}
	r.hashing = w.hashed(c, x)
	if r.hashing {
		r.hash.Reset()
	}
}

// statedLength reads the Content-Length of a reply to HEAD, -1 without one.
func statedLength(r *http1.Response) int64 {
	v := r.Fields.Get("Content-Length")
	if v == nil {
		return -1
	}
	var n int64
	for _, d := range v {
		n = 10*n + int64(d-'0') // digits alone: the parser has seen to that
	}
	return n
}
