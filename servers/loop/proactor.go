package loop

import (
	"runtime"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/uring"
)

// A proactor is the transport by completion: accepts, receives and sends are
// asked for in advance, the kernel makes them, and the loop learns what they
// came to (io_uring(7)). One enter of the kernel submits all that a turn of the
// loop has asked for, and fetches what has completed.
//
// Memory follows from that. What is received lies in buffers that the kernel
// takes from a common stock when bytes are there, so that a connection that
// waits has none (inbox.go). What is sent has a buffer of its own until the send
// has completed (outbox.go).
//
// A descriptor is closed when no operation holds it, and not before: so no
// completion can be about another connection than it was asked for.
type proactor struct {
	l       *loop
	ring    *uring.Ring
	buffers *uring.Buffers
	events  int // that the last wait announced

	conns   []*conn // by descriptor, until it is closed: longer than the loop has them
	last    uint32  // generation of a connection
	closing int     // connections closed by the loop and held by operations

	accepts int     // accepts that go on
	early   []early // accepted beyond the loop's bound; they wait until others end

	sent, submitted []*conn  // with a send asked for in this turn, and in the one before
	free            [][]byte // buffers for replies
}

// The sizes of a ring. A turn may ask for more than it holds (then it is
// submitted in parts), and the kernel keeps the completions for which there is
// no room: both cost a little and lose nothing.
const (
	ringSubmissions = 1 << 10
	ringCompletions = 1 << 12
)

func newProactor(l *loop) (transport, error) {
	ring, err := uring.New(ringSubmissions, ringCompletions)
	if err != nil {
		return nil, err
	}
	buffers, err := ring.NewBuffers(receiveGroup, receiveBuffers, receiveSize)
	if err != nil {
		ring.Close()
		return nil, err
	}
	return &proactor{l: l, ring: ring, buffers: buffers}, nil
}

// An operation is a kind of what the ring does for the loop. A connection has at
// most one of each kind at a time.
type operation uint8

const (
	opCancel  operation = iota
	opWake              // the eventfd was written
	opAccept            // multishot
	opReceive           // multishot
	opSend
	opGone  // the client has ended its side
	opRoom  // the socket takes bytes again
	opReply // the socket of which a parked exchange waits is readable
)

// An operation's name (user_data, io_uring_enter(2)) has the kind in its upper
// byte, then three bytes of the connection's generation, then the descriptor.
func name(op operation, fd int, generation uint32) uint64 {
	return uint64(op)<<56 | uint64(generation&generations)<<32 | uint64(uint32(fd))
}

const generations = 1<<24 - 1

func (p *proactor) start() error {
	runtime.LockOSThread() // to its end: the ring belongs to this thread
	if err := p.ring.Start(); err != nil {
		return err
	}
	p.ring.PollAlways(p.l.wake, evIn, name(opWake, 0, 0))
	return nil
}

func (p *proactor) wait(timeout time.Duration, share bool) (events int, err error) {
	p.events, err = p.ring.Wait(timeout, held(share))
	return p.events, err
}

func (p *proactor) work() {
	p.sent, p.submitted = p.submitted[:0], p.sent
	for range p.events {
		done := p.ring.Next()
		fd := int(uint32(done.Data))
		switch op := operation(done.Data >> 56); op {
		case opCancel: // what was cancelled completes too
		case opWake:
			if !done.More() {
				p.ring.PollAlways(p.l.wake, evIn, name(opWake, 0, 0))
			}
			p.l.takeBack()
		case opAccept:
			p.accepted(fd, done)
		default:
			c := p.conns[fd]
			if c != nil && name(op, fd, c.generation) == done.Data {
				p.complete(c, op, done)
			}
		}
	}
	p.ring.Taken()
	p.admit()
	p.late()
}

// complete goes on with a connection of which an operation has completed.
func (p *proactor) complete(c *conn, op operation, done *uring.Completion) {
	if !done.More() {
		c.ops &^= 1 << op
	}
	switch {
	case p.l.conns[c.fd] != c:
		p.release(c)
	case op == opReceive:
		p.received(c, done)
	case op == opSend:
		p.sendEnded(c, done)
	case op == opGone && c.gone != nil:
		p.l.clientGone(c)
	case op == opRoom && c.state == weighstone.StateWrite:
		p.l.writable(c)
		if p.l.conns[c.fd] == c && c.state == weighstone.StateWrite && !c.doing(opSend) {
			p.awaitRoom(c)
		}
	case op == opReply && c.state == stateParked:
		p.l.look(c)
	}
	if id, filled := done.Buffer(); filled {
		p.buffers.Recycle(id)
	}
}

// ask notes that an operation on c goes on from now on, and names it.
func (p *proactor) ask(c *conn, op operation) uint64 {
	c.ops |= 1 << op
	return name(op, c.fd, c.generation)
}

// cancel ends an operation on c, if it goes on.
func (p *proactor) cancel(c *conn, op operation) {
	if c.doing(op) {
		p.ring.Cancel(name(op, c.fd, c.generation), name(opCancel, 0, 0))
	}
}

// doing says whether an operation on c goes on.
func (c *conn) doing(op operation) bool { return c.ops&(1<<op) != 0 }

func (p *proactor) awaitRoom(c *conn) bool {
	if !c.doing(opRoom) {
		p.ring.Poll(c.fd, evOut, p.ask(c, opRoom))
	}
	return true
}

// park goes on receiving: what comes waits behind the request.
func (p *proactor) park(*conn) bool { return true }

func (p *proactor) await(c *conn, fd int) bool {
	if !c.doing(opReply) { // or it goes on, or was cancelled and will complete
		p.ring.Poll(fd, evIn, p.ask(c, opReply))
	}
	return true
}

func (p *proactor) forget(c *conn) { p.cancel(c, opReply) }

func (p *proactor) lend(c *conn) {
	p.cancel(c, opReceive)
	p.handOver(c)
}

// handOver hands c to its goroutine when nothing is received for the loop any
// more; what came until the cancellation took effect goes along.
func (p *proactor) handOver(c *conn) {
	if c.gone != nil || c.doing(opReceive) {
		return
	}
	if !c.doing(opGone) { // it may go on from the time before
		p.ring.Poll(c.fd, evGone, p.ask(c, opGone))
	}
	p.l.hand(c)
}

func (p *proactor) unwatch(*conn) {} // it was watched for once

func (p *proactor) close(c *conn) {
	if c.ops != 0 {
		for op := opReceive; op <= opReply; op++ {
			p.cancel(c, op)
		}
		p.closing++
		return
	}
	p.conns[c.fd] = nil
	sys.Close(c.fd)
	p.l.closed()
	p.admit()
}

// release goes on with close when an operation has ended.
func (p *proactor) release(c *conn) {
	if c.ops == 0 {
		p.closing--
		p.keepBuffer(c)
		p.close(c)
	}
}

func (p *proactor) arrears() bool { return p.closing > 0 || p.accepts > 0 }

// end closes the ring, and the descriptors that its operations still held. Those
// that goroutines have are theirs.
func (p *proactor) end() {
	p.ring.Close()
	for _, c := range p.conns {
		if c != nil && p.l.conns[c.fd] != c && c.gone == nil {
			sys.Close(c.fd)
		}
	}
	for _, e := range p.early {
		sys.Close(e.fd)
	}
	p.buffers.Close()
	runtime.UnlockOSThread()
}
