package netconn

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// long is from how many bytes on a write counts as one that the socket may not
// take at once.
const long = 64 << 10

// Write writes all of b, as long as the client takes something within the
// write limit.
func (c *Conn) Write(b []byte) (int, error) {
	if c.refused {
		return len(b), nil
	}
	if c.refuse && !c.begun {
		return c.replace(b)
	}
	if c.dropping {
		return c.writeDropping(b)
	}
	if len(b) >= long {
		c.enter(weighstone.StateWrite)
	}
	return c.write(b)
}

func (c *Conn) write(b []byte) (n int, err error) {
	c.writable.begin()
	for {
		var m int
		m, err = c.tcp.Write(b[n:])
		n += m
		if err == nil || !c.goOn(m, err) {
			break
		}
	}
	c.slot.Sent(n)
	return n, err
}

// A writeTimer watches that the client takes what is written. The deadline of
// the socket is only the beat at which to look: setting it at each write would
// cost more than the write limit is worth.
type writeTimer struct {
	since  instant // when progress was last seen, unset before the first beat
	queued int     // bytes in the socket's queue then
}

func (w *writeTimer) begin() { w.since = unset }

// beats is how often a write is looked at within the limit.
const beats = 4

// goOn says whether a write that failed with err, after n bytes, is to be tried
// again.
func (c *Conn) goOn(n int, err error) bool {
	if !os.IsTimeout(err) || c.closed.Load() {
		c.ended.Store(true)
		return false
	}
	c.enter(weighstone.StateWrite)
	w := &c.writable
	now, queued := c.hub.now(), c.queued()
	if n > 0 || w.since == unset || queued < w.queued {
		w.since = now
	}
	w.queued = queued
	if now-w.since >= int64(c.hub.Limits.Write) {
		c.Abort() // else the kernel would keep what is queued
		return false
	}
	return c.beat() == nil
}

// beat sets the time of the next look.
func (c *Conn) beat() error {
	return c.tcp.SetWriteDeadline(time.Now().Add(c.hub.Limits.Write / beats))
}

// queued returns how many bytes the client has not yet taken.
func (c *Conn) queued() (n int) {
	_ = c.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return n
}
