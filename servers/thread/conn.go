package thread

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// A conn is a blocking socket: whoever uses it waits in the system call. It is
// a [flow.Conn], belongs to one thread, and is used for one connection after
// another.
//
// The kernel keeps the limits: SO_RCVTIMEO and SO_SNDTIMEO are stated when they
// change, which for a kept connection is once, when it is first idle.
type conn struct {
	fd     int
	write  time.Duration // limit since the last byte that the client took
	brief  time.Duration // how long a read may wait without the scheduler's knowledge; 0 for not at all
	armed  time.Duration // SO_RCVTIMEO as it is set; 0 for not known
	sender bool          // SO_SNDTIMEO is set
	ahead  []byte        // what another program has read, and is to be read first

	// Bodies may be read by a gateway's goroutine, which must be able to end:
	// such reads wait in poll(2) for the socket and for wake.
	mu          sync.Mutex
	read        time.Time // deadline of Read
	interrupted bool
	wake        int // eventfd, made when first needed; 0 for none
}

// use makes c the connection of a descriptor just accepted.
func (c *conn) use(fd int) {
	c.fd, c.armed, c.sender, c.ahead = fd, 0, false, nil
}

// free gives back what c keeps from one connection to the next.
func (c *conn) free() {
	if c.wake != 0 {
		sys.Close(c.wake)
		c.wake = 0
	}
}

// FD returns the descriptor.
func (c *conn) FD() int { return c.fd }

// Close closes the descriptor.
func (c *conn) Close() { sys.Close(c.fd) }

// ReadWithin reads once, in read(2).
func (c *conn) ReadWithin(p []byte, limit time.Duration) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	if c.brief > 0 && limit > c.brief {
		if err := c.arm(c.brief); err != nil {
			return 0, err
		}
		n, errno := sys.ReadBrief(c.fd, p)
		if errno != unix.EAGAIN && errno != unix.EINTR {
			return taken(n, errno)
		}
		limit -= c.brief
	}
	if err := c.arm(limit); err != nil {
		return 0, err
	}
	for {
		n, errno := sys.ReadWait(c.fd, p)
		if errno == unix.EINTR { // rare enough to begin the limit anew
			continue
		}
		return taken(n, errno)
	}
}

// arm bounds the reads in read(2).
func (c *conn) arm(limit time.Duration) error {
	if limit == c.armed {
		return nil
	}
	if errno := sys.SetTimeout(c.fd, unix.SO_RCVTIMEO, limit); errno != 0 {
		return fmt.Errorf("limit a read: %w", errno)
	}
	c.armed = limit
	return nil
}

// taken is what a read comes to.
func taken(n int, errno unix.Errno) (int, error) {
	switch {
	case errno == unix.EAGAIN:
		return 0, os.ErrDeadlineExceeded
	case errno != 0:
		return 0, fmt.Errorf("read connection: %w", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all of p. The limit is one call's that takes nothing, so a
// client is dropped after one to two of them.
func (c *conn) Write(p []byte) (sent int, err error) {
	if c.brief > 0 {
		if n, errno := sys.Send(c.fd, p); errno == 0 {
			sent = n
		}
	}
	for sent < len(p) {
		if err := c.limitWrites(); err != nil {
			return sent, err
		}
		n, errno := sys.SendWait(c.fd, p[sent:])
		if errno != 0 && errno != unix.EINTR {
			return sent, fmt.Errorf("write connection: %w", errno)
		}
		sent += n
	}
	return sent, nil
}

// SendFile sends some of f, in sendfile(2).
func (c *conn) SendFile(f *os.File, offset *int64, n int) (sent int, err error) {
	if err := c.limitWrites(); err != nil {
		return 0, err
	}
	sent, errno := sys.Sendfile(c.fd, int(f.Fd()), offset, n)
	if errno != 0 {
		return sent, fmt.Errorf("send file: %w", errno)
	}
	return sent, nil
}

func (c *conn) limitWrites() error {
	if c.sender {
		return nil
	}
	if errno := sys.SetTimeout(c.fd, unix.SO_SNDTIMEO, c.write); errno != 0 {
		return fmt.Errorf("limit a write: %w", errno)
	}
	c.sender = true
	return nil
}

// SetReadDeadline bounds the calls of Read from now on.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = t
	return nil
}

// Read reads what there is, waiting for it up to the deadline.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, errno := sys.ReadNow(c.fd, p)
		if errno != unix.EAGAIN {
			return taken(n, errno)
		}
		if err := c.await(); err != nil {
			return 0, err
		}
	}
}

// await waits until something has arrived, or Interrupt ends that.
func (c *conn) await() error {
	wake, limit, err := c.waking()
	if err != nil {
		return err
	}
	fds := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	n, errno := sys.Poll(fds, limit, 0)
	switch {
	case errno != 0:
		return fmt.Errorf("wait for connection: %w", errno)
	case fds[1].Revents != 0, n == 0 && limit == 0:
		return fmt.Errorf("read connection: %w", os.ErrDeadlineExceeded)
	}
	return nil
}

// waking returns the descriptor that ends a wait, and how long that may take.
func (c *conn) waking() (wake int, limit time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return 0, 0, fmt.Errorf("read connection: interrupted: %w", os.ErrDeadlineExceeded)
	}
	if c.wake == 0 {
		fd, errno := sys.EventFD()
		if errno != 0 {
			return 0, 0, fmt.Errorf("wait for connection: %w", errno)
		}
		c.wake = fd
	}
	limit = -1
	if !c.read.IsZero() {
		limit = max(time.Until(c.read), 0)
	}
	return c.wake, limit, nil
}

// Interrupt makes the Read that is waiting, and every later one that would
// wait, fail, until Resume.
func (c *conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	if c.wake != 0 {
		sys.Wake(c.wake)
	}
}

// Resume takes back what Interrupt has done.
func (c *conn) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted && c.wake != 0 {
		sys.ClearWake(c.wake)
	}
	c.interrupted = false
}
