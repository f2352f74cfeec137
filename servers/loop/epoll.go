package loop

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// epollDispatcher keeps its set in the kernel (epoll(7)), level-triggered:
// what was not read is reported again, so nothing is lost by stopping early.
type epollDispatcher struct {
	fd     int
	known  []bool // by descriptor: whether the kernel has it
	others []bool // the same of those that are another's; it may be wrong
	events []unix.EpollEvent
	ready  []int

	// A duplicate of fd that the runtime can wait for, made when it is to: from
	// then on the runtime's own poller wakes for every event too, until it is
	// closed again, when the loop has waited alone for some time.
	file  *os.File
	raw   syscall.RawConn
	alone int // waits since goroutines had connections
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
	d.known = grown(d.known, fd)
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

// grown returns a with room for a descriptor.
func grown(a []bool, fd int) []bool {
	for fd >= len(a) {
		a = append(a, make([]bool, len(a)+64)...)
	}
	return a
}

// once costs one call, and no other when the time has come: the kernel keeps
// the descriptor and tells nothing of it until it is asked again. When its owner
// closes the descriptor, the kernel has forgotten it and others has not.
func (d *epollDispatcher) once(fd int) error {
	d.others = grown(d.others, fd)
	op, other := unix.EPOLL_CTL_ADD, unix.EPOLL_CTL_MOD
	if d.others[fd] {
		op, other = other, op
	}
	errno := sys.EpollCtl(d.fd, op, fd, evIn|evOnce)
	if errno == unix.ENOENT || errno == unix.EEXIST {
		errno = sys.EpollCtl(d.fd, other, fd, evIn|evOnce)
	}
	if errno != 0 {
		return fmt.Errorf("epoll_ctl on descriptor %d: %w", fd, errno)
	}
	d.others[fd] = true
	return nil
}

func (d *epollDispatcher) forget(fd int, told bool) error {
	if told {
		return nil
	}
	d.others[fd] = false
	if errno := sys.EpollCtl(d.fd, unix.EPOLL_CTL_DEL, fd, 0); errno != 0 {
		return fmt.Errorf("epoll_ctl on descriptor %d: %w", fd, errno)
	}
	return nil
}

func (d *epollDispatcher) wait(timeout time.Duration, share bool) ([]int, error) {
	switch {
	case !share && d.raw != nil:
		if d.alone++; d.alone > aloneAfter {
			d.shut()
		}
	case share && timeout != 0 && d.open():
		d.alone = 0
		if err := d.park(timeout); err != nil {
			return nil, err
		}
		timeout = 0
	}
	n, errno := sys.EpollWait(d.fd, d.events, timeout, held(share))
	if errno != 0 {
		return nil, fmt.Errorf("epoll_wait: %w", errno)
	}
	for i := range d.events[:n] {
		d.ready[i] = int(d.events[i].Fd)
	}
	return d.ready[:n], nil
}

// park waits in the runtime's poller, which can watch an epoll descriptor as
// any other. A thread blocked in epoll_wait keeps its share of GOMAXPROCS until
// the runtime's monitor takes it away, and the monitor then stays awake: with
// CGI programs on one core that cost 75 us of 275 us a request.
func (d *epollDispatcher) park(timeout time.Duration) error {
	var deadline time.Time
	if timeout > 0 {
		deadline = time.Now().Add(timeout)
	}
	if err := d.file.SetReadDeadline(deadline); err != nil {
		return fmt.Errorf("wait for epoll: %w", err)
	}
	err := d.raw.Read(func(uintptr) bool {
		n, errno := sys.Poll([]unix.PollFd{{Fd: int32(d.fd), Events: evIn}}, 0, 0)
		return n > 0 || errno != 0
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("wait for epoll: %w", err)
	}
	return nil
}

// open puts the set into the runtime's poller, and says whether it is there: when
// descriptors have run out it is not, and the wait is one that blocks.
func (d *epollDispatcher) open() bool {
	if d.raw != nil {
		return true
	}
	dup, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.SetNonblock(dup, true) // or os.NewFile would not give it to the poller
	d.file = os.NewFile(uintptr(dup), "epoll")
	if d.raw, err = d.file.SyscallConn(); err != nil {
		d.file.Close()
		d.file, d.raw = nil, nil
		return false
	}
	return true
}

// aloneAfter is how many waits must pass without goroutines before the set leaves
// the runtime's poller: going there and back costs some five calls.
const aloneAfter = 100

// shut takes the set out of the runtime's poller.
func (d *epollDispatcher) shut() {
	if d.file != nil {
		d.file.Close()
	}
	d.file, d.raw, d.alone = nil, nil, 0
}

func (d *epollDispatcher) close() {
	d.shut()
	sys.Close(d.fd)
}
