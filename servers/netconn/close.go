package netconn

import (
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

const (
	lingerTotal = 5 * time.Second // how long a half-closed client is read from
	lingerGap   = 2 * time.Second // how long it may send nothing
)

var lingerBuffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// Close closes the connection. While the client may be sending what nobody will
// read, it is half-closed first and read to its end, for some seconds at most:
// closing with unread input makes the kernel send a reset, which can destroy
// the reply on its way (RFC 9112 section 9.6).
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	if !c.ended.Load() && (c.unread.Load() || c.pending()) {
		c.linger()
	}
	err := c.tcp.Close()
	c.hub.quota.Give(c.Remote.Addr())
	c.slot.Conns[c.state.Load()].Add(-1)
	c.hub.remove(c)
	return err
}

// CloseWrite ends our side of the stream.
func (c *Conn) CloseWrite() error { return c.tcp.CloseWrite() }

// Abort makes Close reset the connection: the client must see that the reply,
// which only the end of the stream would delimit, is broken.
func (c *Conn) Abort() {
	c.ended.Store(true)
	_ = c.tcp.SetLinger(0)
}

// cut closes the connection under its users.
func (c *Conn) cut() {
	c.ended.Store(true)
	c.shut.Store(true)
	_ = c.tcp.Close()
}

func (c *Conn) linger() {
	c.enter(weighstone.StateLinger)
	if c.tcp.CloseWrite() != nil {
		return
	}
	buf := lingerBuffers.Get().(*[16 << 10]byte)
	defer lingerBuffers.Put(buf)
	for end := time.Now().Add(lingerTotal); ; {
		gap := time.Now().Add(lingerGap)
		if gap.After(end) {
			gap = end
		}
		if c.tcp.SetReadDeadline(gap) != nil {
			return
		}
		if _, err := c.tcp.Read(buf[:]); err != nil {
			return
		}
	}
}

// pending says whether input waits in the socket.
func (c *Conn) pending() bool {
	n := 0
	_ = c.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n > 0
}
