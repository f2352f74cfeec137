package netconn

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// ReadFrom writes what r yields, within the write limit. Part of a file, as an
// io.LimitedReader of an os.File, is sent by sendfile(2) from the file's
// offset.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	c.enter(weighstone.StateWrite)
	if part, ok := r.(*io.LimitedReader); ok {
		if f, ok := part.R.(*os.File); ok {
			n, err := c.sendFile(f, part.N)
			part.N -= n
			if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
				return n, err
			}
		}
	}
	return c.copyFrom(r)
}

// sendFile sends up to length bytes; fewer without an error if the file is
// shorter.
func (c *Conn) sendFile(f *os.File, length int64) (sent int64, err error) {
	src, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := src.Control(func(from uintptr) { sent, err = c.sendDescriptor(int(from), length) })
	c.slot.Sent(int(sent))
	if err == nil {
		err = outer
	}
	return sent, err
}

func (c *Conn) sendDescriptor(from int, length int64) (sent int64, err error) {
	c.writable.begin()
	for sent < length {
		var n int
		var failed error
		waited := c.raw.Write(func(to uintptr) bool {
			for {
				n, failed = unix.Sendfile(int(to), from, nil, int(min(length-sent, 1<<30)))
				if failed != unix.EINTR {
					return failed != unix.EAGAIN
				}
			}
		})
		switch {
		case waited != nil:
			if !c.goOn(0, waited) {
				return sent, waited
			}
		case failed != nil:
			return sent, os.NewSyscallError("sendfile", failed)
		case n <= 0:
			return sent, nil
		default:
			sent += int64(n)
			c.writable.begin()
		}
	}
	return sent, nil
}

var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyFrom writes what r yields through a buffer.
func (c *Conn) copyFrom(r io.Reader) (n int64, err error) {
	buf := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buf)
	for {
		m, err := r.Read(buf[:])
		if m > 0 {
			sent, err := c.write(buf[:m])
			n += int64(sent)
			if err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
