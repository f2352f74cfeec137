package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/uring"
)

const (
	receiveGroup = 0

	// receiveBuffers are how many connections can have bytes waiting at a time;
	// the receive of one more ends, and is asked for again when buffers are free.
	receiveBuffers = 1 << 9

	// receiveSize holds what a browser sends as a head, in bytes. A longer one
	// comes in parts.
	receiveSize = 2 << 10
)

// watch asks for c's input, once and for all: the receive is multishot. A client
// that has ended its side has had its answers by now.
func (p *proactor) watch(c *conn) bool {
	if c.generation == 0 {
		p.adopt(c)
	}
	switch {
	case c.ended && c.doing(opSend):
		p.l.enter(c, weighstone.StateWrite)
		return true
	case c.ended:
		p.l.destroy(c)
		return false
	}
	if !c.doing(opReceive) {
		p.ring.Receive(c.fd, receiveGroup, p.ask(c, opReceive))
	}
	return true
}

// adopt enters a new connection by its descriptor.
func (p *proactor) adopt(c *conn) {
	for c.fd >= len(p.conns) {
		p.conns = append(p.conns, make([]*conn, len(p.conns)+64)...)
	}
	p.conns[c.fd] = c
	p.last++
	if p.last&generations == 0 {
		p.last++ // 0 is for none yet
	}
	c.generation = p.last & generations
}

// received goes on with c when a receive has completed.
func (p *proactor) received(c *conn, done *uring.Completion) {
	switch errno := done.Errno(); {
	case done.Result > 0:
		id, _ := done.Buffer()
		p.take(c, p.buffers.Bytes(id, int(done.Result)))
	case errno == 0:
		c.ended = true
		if c.doing(opSend) {
			p.l.enter(c, weighstone.StateWrite)
		}
	case errno == unix.ENOBUFS, errno == unix.ECANCELED:
	case c.state != weighstone.StateHandler: // or it is for the goroutine to find
		p.l.destroy(c)
	}
	if p.l.conns[c.fd] == c && !c.doing(opReceive) {
		p.quiet(c)
	}
}

// take answers what it can of the bytes received. Those of a connection with
// output on its way wait with it, and if they get many, for no more are asked.
func (p *proactor) take(c *conn, data []byte) {
	l := p.l
	switch {
	case c.state == weighstone.StateLinger:
	case c.inHandler():
		c.in = append(c.in, data...)
		if len(c.in) > inputRoom {
			p.cancel(c, opReceive)
		}
	case c.state == weighstone.StateWrite, c.doing(opSend):
		c.in = append(c.in, data...)
		l.enter(c, weighstone.StateWrite)
		if len(c.in) > inputRoom {
			p.cancel(c, opReceive)
		}
	case len(c.in) > 0:
		kept := copy(l.in, c.in)
		n := copy(l.in[kept:], data)
		l.answer(c, l.in[:kept+n], kept)
	default:
		l.answer(c, data, 0)
	}
}

// quiet goes on with c when its receive has ended.
func (p *proactor) quiet(c *conn) {
	switch c.state {
	case weighstone.StateHandler:
		p.handOver(c)
	case stateParked:
		c.left = c.ended
	case weighstone.StateWrite: // it goes on when the output is gone
	default:
		p.watch(c)
	}
}
