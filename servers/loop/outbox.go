package loop

import (
	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/uring"
)

// replyRoom is what a buffer for replies begins with, in bytes, and keptReplies
// what it may have grown to and still be kept.
const (
	replyRoom   = 4 << 10
	keptReplies = 64 << 10
)

// flush asks for out and the page behind it to be sent; a file goes the way of
// the reactors, since no operation sends one. A connection that goes on after
// these bytes need not wait for them: nearly always the socket takes them as the
// ring is entered, and late sees to the others.
func (p *proactor) flush(c *conn, out []byte, last bool) bool {
	if c.rest.File != nil {
		return p.l.transmit(c, out)
	}
	c.out = out
	p.l.out = p.buffer()
	p.send(c)
	if last && !c.closing {
		p.sent = append(p.sent, c)
		return true
	}
	p.l.enter(c, weighstone.StateWrite)
	return false
}

// send asks for what c has to be sent. A part of it may be what goes.
func (p *proactor) send(c *conn) {
	switch data := p.ask(c, opSend); {
	case len(c.rest.Page) == 0:
		p.ring.Send(c.fd, c.out, data)
	case len(c.out) == 0:
		p.ring.Send(c.fd, c.rest.Page, data)
	default:
		if c.message == nil {
			c.message = new(uring.Message)
		}
		c.message.Set(c.out, c.rest.Page)
		p.ring.SendMessage(c.fd, c.message, data)
	}
}

// sendEnded goes on with c when a send has completed.
func (p *proactor) sendEnded(c *conn, done *uring.Completion) {
	if done.Result < 0 {
		p.keepBuffer(c)
		p.l.destroy(c)
		return
	}
	n := int(done.Result)
	p.l.slot.Sent(n)
	page := max(n-len(c.out), 0)
	c.rest.Page = c.rest.Page[page:]
	if n-page == len(c.out) {
		p.keepBuffer(c)
	} else {
		c.out = c.out[n:]
	}
	switch {
	case c.pending():
		p.send(c)
		p.l.enter(c, weighstone.StateWrite)
	case c.state == weighstone.StateWrite:
		p.l.written(c)
	}
}

// late puts the connections whose sends did not complete as the ring was entered
// into the write state: their sockets are full.
func (p *proactor) late() {
	for i, c := range p.submitted {
		p.submitted[i] = nil
		if c.doing(opSend) && c.state != weighstone.StateWrite && p.l.conns[c.fd] == c {
			p.l.enter(c, weighstone.StateWrite)
		}
	}
}

// buffer returns an empty buffer for replies.
func (p *proactor) buffer() []byte {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, 0, replyRoom)
}

// keepBuffer takes c's buffer back, of which nothing is sent any more. One of
// which a part was sent first has lost its beginning: it is not kept.
func (p *proactor) keepBuffer(c *conn) {
	if n := cap(c.out); n >= replyRoom && n <= keptReplies {
		p.free = append(p.free, c.out[:0])
	}
	c.out = nil
}
