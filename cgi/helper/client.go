package helper

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/spawn"
)

// ErrLost is why it can't be known what became of a program: the helper is
// gone, and the program with it.
var ErrLost = errors.New("the CGI helper is gone")

// A Client has programs started by a helper, as a [spawn.Spawner] starts them
// itself. Any number of goroutines may use it.
type Client struct {
	address string

	mu     sync.Mutex
	idle   []*link // the one used last at the end
	live   map[*child]struct{}
	closed bool
}

// NewClient makes a client of the helper at the address that its keeper tells.
// It connects when it is asked. Its owner closes it.
func NewClient(address string) *Client {
	return &Client{address: address, live: map[*child]struct{}{}}
}

// Start has a program started. That it could not be is learnt when it is
// reaped; errors are those of asking, ErrLost among them.
func (c *Client) Start(cmd *spawn.Command) (*spawn.Process, error) {
	return spawn.Connect(cmd, func(files [3]int) (spawn.Child, error) {
		order, err := appendStart(make([]byte, 0, 4<<10), cmd, files)
		if err != nil {
			return nil, err
		}
		p := &child{client: c}
		if p.link, err = c.send(order, files); err != nil {
			return nil, err
		}
		if !c.add(p) {
			p.lose(os.ErrClosed)
			return nil, os.ErrClosed
		}
		return p, nil
	})
}

// send sends an order on a connection. One that was kept may have ended with a
// helper that did: then nothing of the order has been read, and it is sent
// anew.
func (c *Client) send(order []byte, files [3]int) (*link, error) {
	for {
		l, kept, err := c.take()
		if err != nil {
			return nil, err
		}
		if err = l.order(order, files); err == nil {
			return l, nil
		}
		l.close()
		if !kept {
			return nil, fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// take returns a connection that no program uses, and whether it was kept.
func (c *Client) take() (l *link, kept bool, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, false, os.ErrClosed
	}
	if n := len(c.idle); n > 0 {
		l = c.idle[n-1]
		c.idle = c.idle[:n-1]
	}
	c.mu.Unlock()
	if l != nil {
		return l, true, nil
	}
	l, err = dial(c.address)
	return l, false, err
}

// put keeps a connection for the next program.
func (c *Client) put(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		l.close()
		return
	}
	c.idle = append(c.idle, l)
}

// add takes note of a program, unless the client was closed meanwhile.
func (c *Client) add(p *child) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.live[p] = struct{}{}
	}
	return !c.closed
}

// remove forgets a program that was reaped.
func (c *Client) remove(p *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, p)
}

// Close hangs up, which ends the programs that still run.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	idle, live := c.idle, slices.Collect(maps.Keys(c.live))
	c.idle = nil
	c.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
	for _, p := range live {
		p.lose(os.ErrClosed)
	}
	return nil
}

// A link is a connection to a helper.
type link struct {
	fd   int
	file *os.File // the same, in Go's poller
}

// dial connects to the helper.
func dial(address string) (*link, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// It blocks while the queue is full.
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: int64(sendLimit / time.Second)})
	for err == nil {
		if err = unix.Connect(fd, &unix.SockaddrUnix{Name: address}); err != unix.EINTR {
			break
		}
	}
	if err == unix.ECONNREFUSED {
		err = ErrLost
	}
	if err == nil {
		err = checkPeer(fd)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("connect to the CGI helper: %w", err)
	}
	return &link{fd: fd, file: os.NewFile(uintptr(fd), "connection to the CGI helper")}, nil
}

// checkPeer wants the other end to be of the same user.
func checkPeer(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", peer.Uid)
	}
	return nil
}

// sendLimit bounds how long the helper may take to accept a connection where
// its queue is full, and to read an order that is larger than a socket's buffer.
const sendLimit = 10 * time.Second

// order sends an order to start, with the descriptors.
func (l *link) order(b []byte, files [3]int) error {
	fds := make([]int, 0, len(files))
	for _, fd := range files {
		if fd != spawn.NoFile {
			fds = append(fds, fd)
		}
	}
	n, err := unix.SendmsgN(l.fd, b, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if err != nil {
		return os.NewSyscallError("sendmsg", err)
	}
	if n == len(b) {
		return nil
	}
	if err := l.file.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
		return err
	}
	_, err = l.file.Write(b[n:])
	return err
}

// tell sends a short order. That it can't be sent means that the helper is
// about to be gone.
func (l *link) tell(order ...byte) {
	_, _ = unix.SendmsgN(l.fd, order, nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
}

// close hangs up.
func (l *link) close() { l.file.Close() }
