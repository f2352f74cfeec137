package netconn

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// A FilePart is part of an open file as a reader. The file's own offset is
// neither used nor moved, so that several may read one file at a time.
type FilePart struct {
	File   *os.File
	Offset int64
	Left   int64 // in bytes
}

// Read implements io.Reader.
func (p *FilePart) Read(b []byte) (int, error) {
	if p.Left <= 0 {
		return 0, io.EOF
	}
	n, err := p.File.ReadAt(b[:min(int64(len(b)), p.Left)], p.Offset)
	p.advance(int64(n))
	return n, err
}

func (p *FilePart) advance(n int64) {
	p.Offset += n
	p.Left -= n
}

// ReadFrom writes what r yields, within the write limit. A [FilePart] is sent by
// sendfile(2).
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	c.enter(weighstone.StateWrite)
	if part, ok := r.(*FilePart); ok {
		n, err := c.sendFile(part)
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
			return n, err
		}
	}
	return c.copyFrom(r)
}

// sendFile sends a part of a file; less of it without an error if the file is
// shorter.
func (c *Conn) sendFile(part *FilePart) (sent int64, err error) {
	src, err := part.File.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := src.Control(func(from uintptr) { sent, err = c.sendDescriptor(int(from), part.Offset, part.Left) })
	part.advance(sent)
	c.slot.Sent(int(sent))
	if err == nil {
		err = outer
	}
	return sent, err
}

func (c *Conn) sendDescriptor(from int, offset, length int64) (sent int64, err error) {
	c.writable.begin()
	for sent < length {
		var n int
		var failed error
		waited := c.raw.Write(func(to uintptr) bool {
			for {
				n, failed = unix.Sendfile(int(to), from, &offset, int(min(length-sent, 1<<30)))
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
