package flow

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// leaves tells the handlers that may wait when their clients have left, since
// the flows of control that could see it wait in those handlers. It is one
// epoll(7) set, in the runtime's poller; a connection is in it for the time of
// such an exchange alone, so the others pay nothing.
type leaves struct {
	epoll int
	file  *os.File // of epoll
	raw   syscall.RawConn
	log   *slog.Logger
	ended chan struct{}

	mu     sync.Mutex
	gone   map[int]chan struct{} // by descriptor
	closed bool
}

// evGone is the client's end of its side; errors and resets come unasked.
const evGone = unix.EPOLLRDHUP | unix.EPOLLONESHOT

func newLeaves(log *slog.Logger) (*leaves, error) {
	fd, errno := sys.EpollCreate()
	if errno != 0 {
		return nil, fmt.Errorf("watch for clients that leave: %w", errno)
	}
	err := unix.SetNonblock(fd, true) // or os.NewFile would not give it to the poller
	l := &leaves{epoll: fd, file: os.NewFile(uintptr(fd), "clients that wait"), log: log, ended: make(chan struct{}), gone: map[int]chan struct{}{}}
	if err == nil {
		l.raw, err = l.file.SyscallConn()
	}
	if err != nil {
		l.file.Close()
		return nil, fmt.Errorf("watch for clients that leave: %w", err)
	}
	go l.run()
	return l, nil
}

// watch has gone closed when the client at fd ends its side or the connection
// fails.
func (l *leaves) watch(fd int, gone chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		close(gone)
		return
	}
	l.gone[fd] = gone
	if errno := sys.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, evGone); errno != 0 {
		l.log.Error("watch for a client that leaves", "err", errno)
	}
}

// forget ends the watch at fd, which is still open.
func (l *leaves) forget(fd int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.gone, fd)
	if !l.closed {
		sys.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, fd, 0)
	}
}

// run tells of those that leave until the file is closed.
func (l *leaves) run() {
	defer close(l.ended)
	events := make([]unix.EpollEvent, 64)
	for {
		n := 0
		err := l.raw.Read(func(uintptr) bool {
			n, _ = sys.EpollWait(l.epoll, events, 0, 0)
			return n > 0
		})
		if err != nil { // it is closed
			return
		}
		l.mu.Lock()
		for _, e := range events[:n] {
			if gone := l.gone[int(e.Fd)]; gone != nil {
				delete(l.gone, int(e.Fd))
				close(gone)
			}
		}
		l.mu.Unlock()
	}
}

// close ends all watches. The handlers that are still at work are told that
// their clients have left: their connections have been cut off.
func (l *leaves) close() {
	l.mu.Lock()
	l.closed = true
	for fd, gone := range l.gone {
		delete(l.gone, fd)
		close(gone)
	}
	l.mu.Unlock()
	l.file.Close()
	<-l.ended
}
