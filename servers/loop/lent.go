package loop

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// A lent connection is a loop's descriptor in the hands of a goroutine, as
// [wire.Conn]. Calls that can be done at once are; for one that must wait, a
// duplicate of the descriptor is put into the runtime's own poller, so that
// waiting takes no thread.
type lent struct {
	fd    int
	write time.Duration // limit since the last byte that the client took

	mu          sync.Mutex
	read        time.Time // deadline
	interrupted bool
	file        *os.File // the duplicate, made when first needed
	raw         syscall.RawConn
}

// Read reads what there is, waiting for it up to the deadline.
func (c *lent) Read(p []byte) (int, error) {
	n, errno := sys.Read(c.fd, p)
	if errno == unix.EAGAIN {
		err := c.prepareRead()
		if err != nil {
			return 0, err
		}
		err = c.raw.Read(func(uintptr) bool {
			n, errno = sys.Read(c.fd, p)
			return errno != unix.EAGAIN
		})
		if err != nil {
			return 0, fmt.Errorf("read connection: %w", err)
		}
	}
	switch {
	case errno != 0:
		return 0, fmt.Errorf("read connection: %w", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all of p. Every byte that the client takes starts the limit anew.
func (c *lent) Write(p []byte) (sent int, err error) {
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

func (c *lent) waitSend(p []byte) (n int, errno unix.Errno, err error) {
	if err := c.prepareWrite(); err != nil {
		return 0, 0, err
	}
	err = c.raw.Write(func(uintptr) bool {
		n, errno = sys.Send(c.fd, p)
		return errno != unix.EAGAIN
	})
	if err != nil {
		err = fmt.Errorf("write connection: %w", err)
	}
	return n, errno, err
}

// SetReadDeadline bounds the reads from now on.
func (c *lent) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = t
	return nil
}

// Interrupt makes the read that is waiting, and every later one that would
// wait, fail.
func (c *lent) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	if c.file != nil {
		_ = c.file.SetReadDeadline(time.Unix(1, 0)) // it fails only on a closed file, which nobody reads
	}
}

// prepareRead makes ready for a read that waits.
func (c *lent) prepareRead() error {
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
	return nil
}

// prepareWrite makes ready for a write that waits.
func (c *lent) prepareWrite() error {
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
func (c *lent) open() error {
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

// release ends the goroutine's use of the connection, which stays open.
func (c *lent) release() {
	if c.file != nil {
		c.file.Close()
	}
}
