package loop

import (
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// sendfileStep bounds one sendfile, in bytes, so that a fast reader of a large
// file does not keep the others waiting; writeStep, what is read of a file
// before it is written.
const (
	sendfileStep = 512 << 10
	writeStep    = inputRoom
)

// prepare makes ready to send c.rest in the way that the knobs ask for. It is
// false when that can't be done and c is lost.
func (l *loop) prepare(c *conn) bool {
	switch l.knobs.Send {
	case weighstone.SendMmap:
		if c.rest.File != nil && !c.mapFile() {
			l.destroy(c)
			return false
		}
	case weighstone.SendCork:
		sys.Cork(c.fd, true)
		c.corked = true
	}
	return true
}

// settle ends what prepare began, when all is sent.
func (l *loop) settle(c *conn) {
	c.unmap()
	if c.corked {
		c.corked = false
		sys.Cork(c.fd, false)
	}
}

// mapFile makes the part of the file that is to be sent a page in memory, by
// mmap(2). A page of it that is not in the kernel's memory stops the loop while
// it is read, as it did the servers that sent so. What another process cuts off
// the file meanwhile fails the send (EFAULT) and raises no signal, since nobody
// here looks at the bytes.
func (c *conn) mapFile() bool {
	r := &c.rest
	inPage := r.Offset % int64(unix.Getpagesize())
	mapping, err := unix.Mmap(int(r.File.Fd()), r.Offset-inPage, int(inPage+r.Length), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	r.Close()
	c.mapping = mapping
	c.rest = wire.Rest{Page: mapping[inPage:]}
	return true
}

// unmap gives the mapping back.
func (c *conn) unmap() {
	if c.mapping != nil {
		_ = unix.Munmap(c.mapping) // it fails only for what was never mapped
		c.mapping = nil
	}
}

// sendFile moves some of c's file, and closes it at its end.
func (l *loop) sendFile(c *conn) unix.Errno {
	r := &c.rest
	var n int
	var errno unix.Errno
	if l.knobs.Send == weighstone.SendWrite || l.fetchers != nil {
		n, errno = l.copyFile(c)
	} else {
		n, errno = sys.Sendfile(c.fd, int(r.File.Fd()), &r.Offset, int(min(r.Length, sendfileStep)))
	}
	c.blocked = errno == unix.EAGAIN
	l.slot.Sent(n)
	r.Length -= int64(n)
	switch {
	case errno != 0:
		return errno
	case n == 0: // the file has shrunk under us: the reply can't be completed
		return unix.EIO
	case r.Length == 0:
		r.Close()
		*r = wire.Rest{}
	}
	return 0
}

// copyFile is sendfile by hand: what is read of the file and not taken by the
// socket is read again.
func (l *loop) copyFile(c *conn) (n int, errno unix.Errno) {
	r := &c.rest
	if l.piece == nil {
		l.piece = make([]byte, writeStep)
	}
	piece := l.piece[:min(r.Length, writeStep)]
	var have int
	if l.fetchers != nil {
		if have, errno = l.readNow(c, piece); errno != 0 {
			return 0, errno
		}
	} else {
		have, _ = r.File.ReadAt(piece, r.Offset)
	}
	if have == 0 {
		return 0, unix.EIO
	}
	n, errno = sys.Send(c.fd, piece[:have])
	r.Offset += int64(n)
	return n, errno
}
