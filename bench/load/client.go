package load

import (
	"hash"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/http1"
	"golang.org/x/sys/unix"
)

// A client is one of the connections in use at a time, or its want of one. It
// belongs to one worker. All it needs is allocated before the start.
type client struct {
	fd     int // -1 without a connection
	state  connState
	script bench.Script

	// ring holds the exchanges under way, the oldest at head: of count, the
	// first rendered have been written to the present connection, or at least
	// to out, and the first stamped of these have left.
	ring                           []exchange
	head, count, rendered, stamped int
	issued, answered               int // requests and replies on the present connection
	connected                      time.Duration
	out                            []byte // requests not yet sent: those from outOff on
	outOff                         int
	reply                          reply
	index                          int32
	life                           uint32     // counts the connections it has had
	corked                         bool       // requests are collected in out, to leave together
	broken                         unix.Errno // why the connection takes no more; 0 if it does
	ahead                          bool       // the connection was made before it was needed
	sipping                        bool       // a slow reader is not to read before its appointment
	hangups                        uint32     // events of the server's end that a slow reader has seen
}

// A connState is where a client's connection stands.
type connState uint8

const (
	connNone connState = iota
	connConnecting
	connOpen
)

// An exchange is a request under way.
type exchange struct {
	ask     bench.Ask
	sample  bench.Sample
	begun   time.Duration // since the start of the run
	retried bool          // a kept connection turned out to be closed
}

// A reply is what has come of the oldest exchange's reply.
type reply struct {
	phase   phase
	keep    bool // the connection can be used again
	hashing bool
	status  uint16
	bytes   int64 // all of it so far
	body    int64 // of the body so far
	left    int64 // of a body of known length; http1.UntilClose
	stated  int64 // the length that the head states, -1 if it does not
	first   time.Duration
	part    []byte // the beginning of a head that is not complete
	kept    []byte // the beginning of a reply that came in pieces, for the report
	chunks  http1.Chunks
	hash    hash.Hash
	sum     []byte
}

// A phase says which part of a reply comes next.
type phase uint8

const (
	phaseHead phase = iota
	phaseFixed
	phaseChunked
	phaseUntilClose
)

// reset makes r ready for the next reply, keeping its buffers.
func (r *reply) reset() {
	*r = reply{part: r.part[:0], kept: r.kept[:0], hash: r.hash, sum: r.sum}
}

// at returns the i-th oldest exchange.
func (c *client) at(i int) *exchange {
	i += c.head
	if i >= len(c.ring) {
		i -= len(c.ring)
	}
	return &c.ring[i]
}

// push adds an exchange; there is room for as many as the pipeline is deep.
func (c *client) push() *exchange {
	x := c.at(c.count)
	c.count++
	return x
}

// pop drops the oldest exchange.
func (c *client) pop() {
	if c.head++; c.head == len(c.ring) {
		c.head = 0
	}
	c.count--
	c.rendered = max(c.rendered-1, 0)
	c.stamped = max(c.stamped-1, 0)
}

// disconnect forgets the connection. What was under way on it is not rendered
// any more.
func (c *client) disconnect() {
	c.fd, c.state = -1, connNone
	c.rendered, c.stamped, c.issued, c.answered = 0, 0, 0, 0
	c.out, c.outOff, c.broken, c.corked = c.out[:0], 0, 0, false
	c.ahead, c.sipping, c.hangups = false, false, 0
	c.reply.reset()
}
