// Package goroutine holds the server with a goroutine for each connection and
// this project's own parser: beside net/http it shows what of the cost is the
// library's and what the runtime's.
package goroutine

import (
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/flow"
	"github.com/weighstone/weighstone/servers/park"
	"github.com/weighstone/weighstone/servers/wire"
)

// server has a goroutine for each listening socket and one for each connection.
// All of them wait in the runtime's poller.
type server struct {
	*flow.Crowd
	flows sync.Pool // of *flow.Flow, whose connections have ended
}

// New makes the server.
func New(o weighstone.Options) weighstone.Server {
	s := &server{Crowd: flow.NewCrowd(o, max(o.Workers, 1), false)}
	s.flows.New = func() any { return s.NewFlow() }
	return s
}

// Serve accepts and answers until Drain has finished; see [weighstone.Server].
func (s *server) Serve(listeners []int, site *weighstone.Site) error {
	return s.Run(site, func() error {
		for _, fd := range listeners {
			l, err := listen(fd)
			if err != nil {
				return err
			}
			s.Go(func() { s.accept(l) })
		}
		return nil
	})
}

// shortage is how long accepting rests when descriptors run out.
const shortage = 200 * time.Millisecond

// A listener is a listening socket in the poller, by a duplicate of its own.
type listener struct {
	fd    int
	local netip.AddrPort
	file  *os.File
	raw   syscall.RawConn
}

func listen(fd int) (*listener, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("watch a listener: %w", err)
	}
	l := &listener{fd: fd, local: sys.LocalAddr(fd), file: os.NewFile(uintptr(dup), "listener")}
	if l.raw, err = l.file.SyscallConn(); err != nil {
		l.file.Close()
		return nil, fmt.Errorf("watch a listener: %w", err)
	}
	return l, nil
}

// accept takes connections and starts their goroutines. In a drain it takes
// what is in the queue.
func (s *server) accept(l *listener) {
	defer l.file.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.Drained():
			l.file.SetReadDeadline(time.Unix(1, 0))
		case <-stop:
		}
	}()
	for s.Admit() {
		draining := s.Draining()
		fd, remote, errno := l.next(draining)
		if errno == 0 && s.Welcome(fd, remote) {
			s.begin(l, fd, remote)
			continue
		}
		s.Dismiss()
		switch errno {
		case 0, unix.ECONNABORTED: // refused, or it failed before we took it
		case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
			s.Log.Warn("accept: pausing", "err", errno)
			time.Sleep(shortage)
		case unix.EAGAIN:
			if draining {
				return
			}
		default:
			s.Log.Warn("accept", "err", errno)
		}
	}
}

// next takes a connection, and waits for one unless the server drains.
func (l *listener) next(draining bool) (fd int, remote netip.AddrPort, errno unix.Errno) {
	if draining {
		return sys.Accept(l.fd)
	}
	errno = unix.EAGAIN
	_ = l.raw.Read(func(uintptr) bool { // its error is the deadline that a drain sets
		fd, remote, errno = sys.Accept(l.fd)
		return errno != unix.EAGAIN
	})
	return fd, remote, errno
}

// begin starts the goroutine of a connection.
func (s *server) begin(l *listener, fd int, remote netip.AddrPort) {
	at, local := time.Now(), l.local
	if local.Addr().IsUnspecified() {
		local = sys.LocalAddr(fd)
	}
	s.Go(func() {
		defer s.Dismiss()
		f := s.flows.Get().(*flow.Flow)
		f.Serve(park.Own(fd, s.Limits().Write), wire.Peer{Local: local, Remote: remote}, at)
		s.flows.Put(f)
	})
}
