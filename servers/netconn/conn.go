package netconn

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
)

// A Conn is a connection as a library sees it. The library owns it and closes
// it. Reads and writes keep the limits of the hub; SetReadDeadline serves only
// to interrupt a read, and the other deadlines do nothing.
//
// The library calls Read from one goroutine at a time and Write from one; the
// engine's calls (Begin and so on) come from the goroutine that serves.
type Conn struct {
	Local, Remote netip.AddrPort

	// Exchange is where the engine may keep what lives between two of the
	// library's calls for one request.
	Exchange any

	hub  *Hub
	tcp  *net.TCPConn
	raw  syscall.RawConn
	slot *weighstone.Slot

	grace instant // of a connection accepted during a drain: when it ends; else unset

	phase  atomic.Uint32 // a phase
	until  atomic.Int64  // the deadline of the phase, or unset
	state  atomic.Uint32 // a weighstone.ConnState: as counted
	unread atomic.Bool   // input may be left that nobody will read
	ended  atomic.Bool   // the client has ended its stream, or the connection is broken
	shut   atomic.Bool   // the engine wants nothing more from the client
	closed atomic.Bool

	gate gate // only the reading goroutine

	mu          sync.Mutex // guards the timer of reads
	armed       atomic.Int64
	interrupted bool

	answered int  // requests
	begun    bool // an exchange is going on
	refuse   bool // what is written outside an exchange is the library's refusal
	refused  bool // the connection has had its refusal
	dropping bool // an interim reply is to be taken out of what is written
	kept     int  // bytes of it not yet written, nor known to be of it
	writable writeTimer
}

// A phase is what the next byte from the client belongs to.
type phase = uint32

const (
	idle    phase = iota // the first byte of a head
	inHead               // a head that has begun
	inBody               // a body, or nothing: the head has ended
	serving              // nothing that is waited for: the exchange is going on
)

// newConn takes over an accepted connection. It closes one whose address has as
// many as it may, and returns nil.
func (h *Hub) newConn(tcp *net.TCPConn) (*Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	c := &Conn{hub: h, tcp: tcp, raw: raw, Local: addrPort(tcp.LocalAddr()), Remote: addrPort(tcp.RemoteAddr())}
	c.armed.Store(never)
	c.state.Store(uint32(weighstone.StateHead))
	now := h.now()
	c.until.Store(now + int64(h.Limits.Header))
	if h.Draining() {
		c.grace = max(now+int64(grace), h.graceEnds)
		c.until.Store(c.grace)
	}
	if err := c.beat(); err != nil {
		_ = tcp.Close()
		return nil, err
	}
	if !h.quota.Take(c.Remote.Addr()) {
		h.slots[0].Refused.Add(1)
		_ = tcp.Close()
		return nil, nil
	}
	h.adopt(c)
	return c, nil
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// Read reads what the client sends, within the limit of the phase. When the
// limit passes, an idle connection ends (io.EOF), an unfinished head is
// answered 408 and ends, and in a body the error is os.ErrDeadlineExceeded.
func (c *Conn) Read(p []byte) (int, error) {
	return c.gate.read(c, p)
}

// receive is Read below the gate.
func (c *Conn) receive(p []byte) (int, error) {
	for {
		if c.shut.Load() {
			return 0, io.EOF
		}
		if err := c.arm(); err != nil {
			return 0, err
		}
		n, err := c.tcp.Read(p)
		if n > 0 {
			c.unread.Store(n == len(p) && n > 1) // more may wait; one byte is net/http looking
			if c.phase.Load() == idle {
				c.next(inHead)
			}
			return n, nil
		}
		if err == nil {
			return 0, nil
		}
		if !os.IsTimeout(err) {
			c.ended.Store(true)
			return 0, err
		}
		if err := c.late(); err != nil {
			return 0, err
		}
	}
}

// arm makes sure that a read does not outlast the deadline. The timer may be
// early: moving it with each request costs more than a false alarm now and
// then, which late sorts out.
func (c *Conn) arm() error {
	if armed := c.armed.Load(); armed != stale && armed <= c.deadline() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return os.ErrDeadlineExceeded
	}
	return c.setTimer(c.deadline())
}

// setTimer sets the timer of reads; the caller holds mu.
func (c *Conn) setTimer(at instant) error {
	var t time.Time
	if at != never {
		t = c.hub.start.Add(time.Duration(at))
	}
	c.armed.Store(at)
	return c.tcp.SetReadDeadline(t)
}

// deadline returns when the phase must be over, and counts the connection as
// waiting in it.
func (c *Conn) deadline() instant {
	p := c.phase.Load()
	if p == serving {
		return never
	}
	until := c.until.Load()
	if until == unset {
		limits := &c.hub.Limits
		limit := [...]time.Duration{idle: limits.Idle, inHead: limits.Header, inBody: limits.Body}[p]
		until = c.hub.now() + int64(limit)
		c.until.Store(until)
		c.enter([...]weighstone.ConnState{idle: weighstone.StateIdle, inHead: weighstone.StateHead, inBody: weighstone.StateBody}[p])
	}
	if p == idle && c.hub.Draining() {
		until = min(until, max(c.hub.graceEnds, c.grace))
	}
	return until
}

// next begins a phase, whose deadline is worked out when a read must wait.
func (c *Conn) next(p phase) {
	c.phase.Store(p)
	c.until.Store(unset)
}

// late is called when the timer has fired. It returns nil when that was a false
// alarm.
func (c *Conn) late() error {
	c.mu.Lock()
	interrupted := c.interrupted
	c.armed.Store(stale)
	c.mu.Unlock()
	switch {
	case interrupted:
		return os.ErrDeadlineExceeded
	case c.hub.now() < c.deadline():
		return nil
	}
	c.unread.Store(true) // something may be on its way
	switch c.phase.Load() {
	case idle:
		return io.EOF
	case inHead:
		c.Refuse(http.StatusRequestTimeout)
		return io.EOF
	}
	return os.ErrDeadlineExceeded
}

// poke makes a waiting read look at the drain.
func (c *Conn) poke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.interrupted && c.armed.Load() > c.hub.graceEnds {
		_ = c.setTimer(c.hub.graceEnds)
	}
}

// Begin says that the library has handed a request to the engine.
func (c *Conn) Begin() {
	c.begun = true
	if c.gate.at == gateHead { // else there is a body to come
		c.phase.Store(serving)
	}
}

// Last says that the reply to the current request must be the connection's
// last: the server drains, or the connection has had its number of requests.
func (c *Conn) Last() bool {
	return c.hub.Draining() || c.hub.closeAfter > 0 && c.answered+1 >= c.hub.closeAfter
}

// Waits counts the connection as one with a handler that may wait.
func (c *Conn) Waits() { c.enter(weighstone.StateHandler) }

// End says that the reply is complete and the connection is kept.
func (c *Conn) End() {
	c.begun = false
	c.next(idle)
}

// Shut makes reads report the end of the stream, for a library that would wait
// for a body that nobody wants. What the client still sends is dropped when the
// connection is closed.
func (c *Conn) Shut() {
	c.unread.Store(true)
	c.shut.Store(true)
}

// Unread says that the client may be sending what nobody will read, so that
// closing at once would reset the connection and could destroy the reply.
func (c *Conn) Unread() { c.unread.Store(true) }

// enter counts the connection in another state.
func (c *Conn) enter(s weighstone.ConnState) {
	if was := c.state.Swap(uint32(s)); was != uint32(s) {
		c.slot.Move(weighstone.ConnState(was), s)
	}
}

// SetReadDeadline interrupts a read when t is in the past, and allows reads
// again otherwise. The limits of the hub apply whatever t is.
func (c *Conn) SetReadDeadline(t time.Time) error {
	past := !t.IsZero() && !t.After(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if past == c.interrupted {
		return nil
	}
	c.interrupted = past
	c.armed.Store(stale)
	if past {
		return c.tcp.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline does nothing: each write has the limit of the hub.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is SetReadDeadline.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// LocalAddr returns the server's end.
func (c *Conn) LocalAddr() net.Addr { return c.tcp.LocalAddr() }

// RemoteAddr returns the client's end.
func (c *Conn) RemoteAddr() net.Addr { return c.tcp.RemoteAddr() }
