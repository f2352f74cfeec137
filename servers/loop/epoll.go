package loop

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// epollDispatcher keeps its set in the kernel (epoll(7)), level-triggered:
// what was not read is reported again, so nothing is lost by stopping early.
type epollDispatcher struct {
	fd     int
	known  []bool // by descriptor: whether the kernel has it
	events []unix.EpollEvent
	ready  []int
}

// epollBatch is how many events one wait can report.
const epollBatch = 512

func newEpoll() (dispatcher, error) {
	fd, errno := sys.EpollCreate()
	if errno != 0 {
		return nil, fmt.Errorf("open epoll: %w", errno)
	}
	return &epollDispatcher{fd: fd, events: make([]unix.EpollEvent, epollBatch), ready: make([]int, epollBatch)}, nil
}

func (d *epollDispatcher) set(fd int, events uint32) error {
	for fd >= len(d.known) {
		d.known = append(d.known, make([]bool, len(d.known)+64)...)
	}
	op := unix.EPOLL_CTL_ADD
	if d.known[fd] {
		op = unix.EPOLL_CTL_MOD
	}
	if errno := sys.EpollCtl(d.fd, op, fd, events); errno != 0 {
		return fmt.Errorf("epoll_ctl on descriptor %d: %w", fd, errno)
	}
	d.known[fd] = true
	return nil
}

func (d *epollDispatcher) del(fd int, closing bool) error {
	if fd >= len(d.known) || !d.known[fd] {
		return nil
	}
	d.known[fd] = false
	if closing {
		return nil
	}
	if errno := sys.EpollCtl(d.fd, unix.EPOLL_CTL_DEL, fd, 0); errno != 0 {
		return fmt.Errorf("epoll_ctl on descriptor %d: %w", fd, errno)
	}
	return nil
}

func (d *epollDispatcher) wait(timeout time.Duration) ([]int, error) {
	n, errno := sys.EpollWait(d.fd, d.events, timeout)
	if errno != 0 {
		return nil, fmt.Errorf("epoll_wait: %w", errno)
	}
	for i := range d.events[:n] {
		d.ready[i] = int(d.events[i].Fd)
	}
	return d.ready[:n], nil
}

func (d *epollDispatcher) close() { sys.Close(d.fd) }
