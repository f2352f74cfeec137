package helper

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// errByHand tells who starts the helper what it is.
var errByHand = errors.New("standard input is no listening socket: the CGI helper is started by weighstone serve, not by hand")

// Serve is the life of a helper: it starts programs for the clients that
// connect to the listening socket. It has one thread, to which it ties its
// goroutine: the programs are to end when that does. It returns only errors.
func Serve(listener int) error {
	runtime.LockOSThread()
	if on, err := unix.GetsockoptInt(listener, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || on == 0 {
		return errByHand
	}
	s := &server{listener: listener, sources: map[int]source{}, buf: make([]byte, 64<<10), control: make([]byte, unix.CmsgSpace(3*4))}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("serve as CGI helper: %w", err)
	}
	defer null.Close()
	s.null = int(null.Fd())
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("serve as CGI helper: %w", os.NewSyscallError("epoll_create1", err))
	}
	if err := unix.SetNonblock(listener, true); err != nil {
		return fmt.Errorf("serve as CGI helper: %w", os.NewSyscallError("fcntl", err))
	}
	if err := s.watch(listener, (*entrance)(s)); err != nil {
		return fmt.Errorf("serve as CGI helper: %w", err)
	}
	return fmt.Errorf("serve as CGI helper: %w", s.run())
}

// A server is the helper.
type server struct {
	listener, epoll, null int

	sources map[int]source // by descriptor
	buf     []byte         // what is read goes through it
	control []byte         // and the descriptors through this
	resting bool           // the listening socket is not watched: there was no room for a connection
}

// shortage is how long, in milliseconds, accepting pauses when descriptors run out.
const shortage = 100

// A source is what a descriptor stands for. It may be told that it is ready
// when it is not.
type source interface{ ready(*server) }

// run serves until it can't.
func (s *server) run() error {
	var events [64]unix.EpollEvent
	for {
		timeout := -1
		if s.resting {
			timeout = shortage
		}
		n, err := unix.EpollWait(s.epoll, events[:], timeout)
		if err != nil && err != unix.EINTR {
			return os.NewSyscallError("epoll_wait", err)
		}
		if s.resting {
			if err := s.watch(s.listener, (*entrance)(s)); err != nil {
				return err
			}
			s.resting = false
		}
		for _, e := range events[:max(n, 0)] {
			// An earlier event may have closed it.
			if at := s.sources[int(e.Fd)]; at != nil {
				at.ready(s)
			}
		}
	}
}

// watch has a source told when its descriptor is readable.
func (s *server) watch(fd int, at source) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	s.sources[fd] = at
	return nil
}

// pause stops watching the listening socket for a while: it stays readable while
// nothing can be accepted, and the helper would spin.
func (s *server) pause() {
	if unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, s.listener, nil) == nil {
		delete(s.sources, s.listener)
		s.resting = true
	}
}

// drop closes a descriptor, which also ends the watching.
func (s *server) drop(fd int) {
	delete(s.sources, fd)
	unix.Close(fd)
}

// The entrance is the listening socket.
type entrance server

// ready takes one connection; if there are more the socket stays readable.
func (e *entrance) ready(s *server) {
	fd, _, err := unix.Accept4(e.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	switch err {
	case nil:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		(*server)(e).pause()
		return
	default:
		return
	}
	if checkPeer(fd) != nil || s.watch(fd, &conn{fd: fd}) != nil {
		unix.Close(fd)
	}
}
