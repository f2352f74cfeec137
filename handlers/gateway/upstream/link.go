package upstream

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/internal/sys"
)

// past is a deadline that ends every wait.
var past = time.Unix(1, 0)

// A link is a connection to an application.
type link struct {
	net.Conn
	raw    syscall.RawConn
	reused bool // it has carried a request

	// What a system call is asked for and said, for the functions below,
	// which are made once since they would be allocated for each call.
	b            []byte
	n            int
	errno        syscall.Errno
	idle         bool
	peek, submit func(fd uintptr)
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
	l := &link{Conn: c, raw: raw}
	l.peek = func(fd uintptr) { l.idle = sys.Idle(int(fd)) }
	l.submit = func(fd uintptr) { l.n, l.errno = sys.Send(int(fd), l.b) }
	return l, nil
}

// fresh says whether nothing has come on an idle connection, not even its end.
func (l *link) fresh() bool {
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
