// Package park holds connections that wait in the Go runtime's poller: a
// goroutine is parked there, and no thread.
package park

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// A Conn is a non-blocking socket in the hands of a goroutine. Calls that can
// be done at once are, by raw system calls; one that must wait parks the
// goroutine. It is a [wire.Conn] and, with a descriptor of its own, a
// [flow.Conn].
type Conn struct {
	fd    int
	write time.Duration // limit since the last byte that the client took

	mu          sync.Mutex
	read        time.Time // deadline of Read
	armed       time.Time // deadline that file has for reading
	interrupted bool
	file        *os.File // fd, or a duplicate of one that is lent, in the poller
	raw         syscall.RawConn

	in, out attempt
}

// An attempt is a call that is tried again each time that the socket is ready.
// It is kept so that waiting allocates nothing.
type attempt struct {
	p     []byte
	n     int
	errno unix.Errno
	try   func(fd uintptr) (done bool)
}

// Lend makes a connection of a descriptor that stays another's. A duplicate is
// put into the poller when a call must wait for the first time, which
// [Conn.Close] closes. write is the limit since the last byte that the client
// took.
func Lend(fd int, write time.Duration) *Conn {
	c := &Conn{fd: fd, write: write}
	c.in.try = func(uintptr) bool {
		c.in.n, c.in.errno = sys.Read(c.fd, c.in.p)
		return c.in.errno != unix.EAGAIN
	}
	c.out.try = func(uintptr) bool {
		c.out.n, c.out.errno = sys.Send(c.fd, c.out.p)
		return c.out.errno != unix.EAGAIN
	}
	return c
}

// Own makes a connection of a descriptor and puts that into the poller.
// [Conn.Close] closes it.
func Own(fd int, write time.Duration) *Conn {
	c := Lend(fd, write)
	c.file = os.NewFile(uintptr(fd), "connection")
	c.raw, _ = c.file.SyscallConn() // it fails for no file that is open
	return c
}

// FD returns the descriptor.
func (c *Conn) FD() int { return c.fd }

// ReadWithin reads what there is, and waits for it at most limit.
func (c *Conn) ReadWithin(p []byte, limit time.Duration) (int, error) {
	now := time.Now()
	deadline := now.Add(limit)
	for {
		if err := c.arm(now, deadline); err != nil {
			return 0, err
		}
		n, err := c.readParked(p)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if now = time.Now(); !now.Before(deadline) {
			return n, err
		}
	}
}

// arm sets the poller's deadline for reading, if it is not early enough: one
// that is too early costs a look when it passes, and setting it anew for each
// request costs more.
func (c *Conn) arm(now, deadline time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed.After(now) && !c.armed.After(deadline) {
		return nil
	}
	if err := c.file.SetReadDeadline(deadline); err != nil {
		return fmt.Errorf("read connection: %w", err)
	}
	c.armed = deadline
	return nil
}

// Read reads what there is, waiting for it up to the deadline.
func (c *Conn) Read(p []byte) (int, error) {
	n, errno := sys.Read(c.fd, p)
	if errno != unix.EAGAIN {
		return taken(n, errno)
	}
	if err := c.prepareRead(); err != nil {
		return 0, err
	}
	return c.readParked(p)
}

// readParked reads when the poller says so.
func (c *Conn) readParked(p []byte) (int, error) {
	c.in.p = p
	err := c.raw.Read(c.in.try)
	c.in.p = nil
	if err != nil {
		return 0, fmt.Errorf("read connection: %w", err)
	}
	return taken(c.in.n, c.in.errno)
}

// taken is what a read that was done comes to.
func taken(n int, errno unix.Errno) (int, error) {
	switch {
	case errno != 0:
		return 0, fmt.Errorf("read connection: %w", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all of p. Every byte that the client takes starts the limit anew.
func (c *Conn) Write(p []byte) (sent int, err error) {
	for sent < len(p) {
		n, errno := sys.Send(c.fd, p[sent:])
		if errno == unix.EAGAIN {
			if n, errno, err = c.waitSend(p[sent:]); err != nil {
				return sent, err
			}
		}
		if errno != 0 {
			return sent, fmt.Errorf("write connection: %w", errno)
		}
		sent += n
	}
	return sent, nil
}

func (c *Conn) waitSend(p []byte) (n int, errno unix.Errno, err error) {
	if err := c.prepareWrite(); err != nil {
		return 0, 0, err
	}
	c.out.p = p
	err = c.raw.Write(c.out.try)
	c.out.p = nil
	if err != nil {
		return 0, 0, fmt.Errorf("write connection: %w", err)
	}
	return c.out.n, c.out.errno, nil
}

// SendFile sends up to n bytes of f from *offset on and advances it. It waits
// until some are taken.
func (c *Conn) SendFile(f *os.File, offset *int64, n int) (sent int, err error) {
	var errno unix.Errno
	in := int(f.Fd())
	if sent, errno = sys.Sendfile(c.fd, in, offset, n); errno == unix.EAGAIN {
		if err = c.prepareWrite(); err != nil {
			return 0, err
		}
		err = c.raw.Write(func(uintptr) bool {
			sent, errno = sys.Sendfile(c.fd, in, offset, n)
			return errno != unix.EAGAIN
		})
	}
	if err == nil && errno != 0 {
		err = errno
	}
	if err != nil {
		return sent, fmt.Errorf("send file: %w", err)
	}
	return sent, nil
}

// SetReadDeadline bounds the calls of Read from now on.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = t
	return nil
}

// Interrupt makes the Read that is waiting, and every later one that would
// wait, fail, until [Conn.Resume].
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	if c.file != nil {
		c.armed = time.Time{}
		_ = c.file.SetReadDeadline(time.Unix(1, 0)) // it fails only on a closed file, which nobody reads
	}
}

// Resume takes back what Interrupt has done.
func (c *Conn) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = false
}

// prepareRead makes ready for a Read that waits.
func (c *Conn) prepareRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return fmt.Errorf("read connection: interrupted: %w", os.ErrDeadlineExceeded)
	}
	if err := c.open(); err != nil {
		return err
	}
	if err := c.file.SetReadDeadline(c.read); err != nil {
		return fmt.Errorf("read connection: %w", err)
	}
	c.armed = c.read
	return nil
}

// prepareWrite makes ready for a write that waits.
func (c *Conn) prepareWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.file.SetWriteDeadline(time.Now().Add(c.write)); err != nil {
		return fmt.Errorf("write connection: %w", err)
	}
	return nil
}

// open makes the duplicate that the runtime can wait for. c.mu is held.
func (c *Conn) open() error {
	if c.file != nil {
		return nil
	}
	fd, err := unix.FcntlInt(uintptr(c.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("wait for connection: %w", err)
	}
	c.file = os.NewFile(uintptr(fd), "connection")
	if c.raw, err = c.file.SyscallConn(); err != nil {
		return fmt.Errorf("wait for connection: %w", err)
	}
	return nil
}

// Close ends the goroutine's use of the connection, which, if it is lent, stays
// open.
func (c *Conn) Close() {
	if c.file != nil {
		c.file.Close()
	}
}
