package upstream

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// past is a deadline that ends every wait.
var past = time.Unix(1, 0)

// A link is a connection to an application. For goroutines that wait on it, it
// is in the runtime's poller. For parked requests it is apart, a bare
// descriptor: else the runtime would be woken for each reply, too.
type link struct {
	conn   // nil while it is apart
	raw    syscall.RawConn
	fd     int  // while it is apart
	reused bool // it has carried a request

	// What a system call is asked for and said, for the functions below,
	// which are made once since they would be allocated for each call.
	b            []byte
	n            int
	errno        syscall.Errno
	idle         bool
	peek, submit func(fd uintptr)
}

// A conn is a connection in the runtime's poller.
type conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

func newLink(c net.Conn) (*link, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		c.Close()
		return nil, errors.New("connection has no descriptor")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		c.Close()
		return nil, err
	}
	l := &link{conn: c, raw: raw}
	l.peek = func(fd uintptr) { l.idle = sys.Idle(int(fd)) }
	l.submit = func(fd uintptr) { l.n, l.errno = sys.Send(int(fd), l.b) }
	return l, nil
}

// part takes the connection out of the poller, which has it as long as the
// descriptor that it knows is open. Nobody waits on it.
func (l *link) part() (err error) {
	if l.conn == nil {
		return nil
	}
	fd := -1
	failed := l.raw.Control(func(known uintptr) {
		fd, err = unix.FcntlInt(known, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	l.conn.Close()
	l.conn, l.raw, l.fd = nil, nil, fd
	return nil
}

// join puts the connection back into the poller.
func (l *link) join() (err error) {
	if l.conn != nil {
		return nil
	}
	f := os.NewFile(uintptr(l.fd), "connection to an application")
	if l.raw, err = f.SyscallConn(); err == nil {
		l.conn = f
	}
	return err
}

// Close closes the connection.
func (l *link) Close() error {
	if l.conn == nil {
		sys.Close(l.fd)
		return nil
	}
	return l.conn.Close()
}

// closeWrite ends our side of a connection in the poller.
func (l *link) closeWrite() {
	_ = l.raw.Control(func(fd uintptr) { sys.HalfClose(int(fd)) }) // it fails only on a closed one
}

// fresh says whether nothing has come on an idle connection, not even its end.
func (l *link) fresh() bool {
	if l.conn == nil {
		return sys.Idle(l.fd)
	}
	return l.raw.Control(l.peek) == nil && l.idle
}

// send sends b. What the socket does not take at once may take until limit.
// sent says whether any of it can have reached the application.
func (l *link) send(b []byte, limit time.Time) (sent bool, err error) {
	l.b = b
	err = l.raw.Control(l.submit)
	l.b = nil
	switch {
	case err != nil:
		return false, err
	case l.errno == syscall.EAGAIN:
		l.n = 0
	case l.errno != 0:
		return false, os.NewSyscallError("send", l.errno)
	}
	if l.n == len(b) {
		return true, nil
	}
	l.SetWriteDeadline(limit)
	_, err = l.Write(b[l.n:])
	if err == nil {
		l.SetWriteDeadline(time.Time{})
	}
	return true, err
}
