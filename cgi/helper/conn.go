package helper

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/spawn"
)

// A conn is a client's connection, as the helper sees it.
type conn struct {
	fd      int
	pending []byte // begun and not a whole order yet
	files   []int  // that came along
	program *program
}

// A program is one that was started and not reaped.
type program struct {
	pid, pidfd int
	conn       *conn // nil once the client has hung up
	ended      bool  // the client was told; the process is a zombie
}

// ready reads orders and carries them out.
func (c *conn) ready(s *server) {
	n, oob, _, _, err := unix.Recvmsg(c.fd, s.buf, s.control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return
	case err != nil || n == 0:
		c.hangUp(s)
		return
	}
	if oob > 0 {
		c.files = append(c.files, received(s.control[:oob])...)
	}
	b := s.buf[:n]
	if len(c.pending) > 0 {
		c.pending = append(c.pending, b...)
		b = c.pending
	}
	rest, err := c.obey(s, b)
	if err != nil {
		c.hangUp(s)
		return
	}
	c.pending = append(c.pending[:0], rest...)
}

// received returns the descriptors in a control message.
func received(control []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for i := range messages {
		if more, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, more...)
		}
	}
	return fds
}

// obey carries out the orders of b, and returns what is no whole one yet.
func (c *conn) obey(s *server, b []byte) (rest []byte, err error) {
	for len(b) > 0 {
		switch b[0] {
		case orderRelease:
			c.release()
			b = b[1:]
		case orderSignal:
			if len(b) < 2 {
				return b, nil
			}
			if c.program != nil {
				syscall.Kill(-c.program.pid, syscall.Signal(b[1]))
			}
			b = b[2:]
		default:
			cmd, mask, n, err := parseStart(b)
			if err != nil || n == 0 {
				return b, err
			}
			if c.program != nil {
				return nil, errOrder
			}
			if err := c.start(s, &cmd, mask); err != nil {
				return nil, err
			}
			b = b[n:]
		}
	}
	return nil, nil
}

// start starts a program, or says why it can't. Errors are the client's.
func (c *conn) start(s *server, cmd *spawn.Command, mask byte) error {
	given := c.files
	c.files = nil
	defer closeAll(given)
	files := [3]int{spawn.NoFile, spawn.NoFile, spawn.NoFile}
	next := given
	for i := range files {
		if mask&(1<<i) == 0 {
			continue
		}
		if len(next) == 0 {
			c.tell(verdictFailed, uint32(syscall.EMFILE)) // the kernel keeps back what we have no room for
			return nil
		}
		files[i], next = next[0], next[1:]
	}
	p := &program{pidfd: -1, conn: c}
	var err error
	p.pid, err = spawn.Exec(cmd, files, s.null, &p.pidfd)
	if err == nil {
		err = s.watch(p.pidfd, p)
		if err != nil {
			p.abort()
		}
	}
	if err == nil {
		c.program = p
		return nil
	}
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.ENOMEM // of epoll: the kernel has no room
	}
	c.tell(verdictFailed, uint32(errno))
	return nil
}

// closeAll closes descriptors.
func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// tell sends a verdict. The client has room for it: there is one a program.
func (c *conn) tell(what byte, value uint32) {
	b := verdict(what, value)
	_, _ = unix.SendmsgN(c.fd, b[:], nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
}

// release reaps a program that has ended.
func (c *conn) release() {
	if p := c.program; p != nil && p.ended {
		p.reap()
		c.program = nil
	}
}

// hangUp ends a connection, and its program if that runs.
func (c *conn) hangUp(s *server) {
	s.drop(c.fd)
	closeAll(c.files)
	p := c.program
	switch {
	case p == nil:
	case p.ended:
		p.reap()
	default:
		p.conn = nil
		syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// ready tells the client of the program's end.
func (p *program) ready(s *server) {
	status, ended := spawn.Ended(p.pid)
	if !ended {
		return
	}
	p.ended = true
	s.drop(p.pidfd)
	if p.conn == nil {
		p.reap()
		return
	}
	p.conn.tell(verdictEnded, uint32(status))
}

// reap takes the zombie away.
func (p *program) reap() {
	for {
		if _, err := syscall.Wait4(p.pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// abort ends a program that can't be watched.
func (p *program) abort() {
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
	syscall.Kill(-p.pid, syscall.SIGKILL)
	p.reap()
}
