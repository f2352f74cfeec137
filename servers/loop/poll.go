package loop

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// pollDispatcher hands its whole set to the kernel at every wait (poll(2)).
// The set is an array without holes; it grows and never shrinks.
type pollDispatcher struct {
	fds   []unix.PollFd
	place []int // by descriptor: 1 + its index in the array, 0 for none
}

func newPoll() (dispatcher, error) { return &pollDispatcher{}, nil }

func (d *pollDispatcher) set(fd int, events uint32) error {
	for fd >= len(d.place) {
		d.place = append(d.place, make([]int, len(d.place)+64)...)
	}
	if at := d.place[fd]; at != 0 {
		d.fds[at-1].Events = int16(events)
		return nil
	}
	d.fds = append(d.fds, unix.PollFd{Fd: int32(fd), Events: int16(events)})
	d.place[fd] = len(d.fds)
	return nil
}

func (d *pollDispatcher) del(fd int, _ bool) error {
	if fd >= len(d.place) || d.place[fd] == 0 {
		return nil
	}
	at, last := d.place[fd]-1, len(d.fds)-1
	d.place[fd] = 0
	if at != last {
		d.fds[at] = d.fds[last]
		d.place[d.fds[at].Fd] = at + 1
	}
	d.fds = d.fds[:last]
	return nil
}

// wait looks at the array from its end, since a descriptor that is removed on
// the way is replaced by the last one, which was looked at already. One added
// on the way has no events yet.
func (d *pollDispatcher) wait(timeout time.Duration, ready func(fd int, events uint32)) (int, error) {
	n, errno := sys.Poll(d.fds, timeout)
	if errno != 0 {
		return 0, fmt.Errorf("poll: %w", errno)
	}
	left := n
	for i := len(d.fds) - 1; i >= 0 && left > 0; i-- {
		if i >= len(d.fds) {
			continue
		}
		if p := &d.fds[i]; p.Revents != 0 {
			events := uint32(uint16(p.Revents))
			p.Revents = 0
			left--
			ready(int(p.Fd), events)
		}
	}
	return n, nil
}

func (d *pollDispatcher) close() {}
