package loop

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// pollDispatcher hands its whole set to the kernel at every wait (poll(2)).
// The set is an array without holes; it grows and never shrinks.
type pollDispatcher struct {
	fds   []unix.PollFd
	ready []int
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

func (d *pollDispatcher) once(fd int) error           { return d.set(fd, evIn) }
func (d *pollDispatcher) forget(fd int, _ bool) error { return d.del(fd, false) }

func (d *pollDispatcher) wait(timeout time.Duration, share bool) ([]int, error) {
	if share {
		runtime.Gosched()
	}
	n, errno := sys.Poll(d.fds, timeout, held(share))
	if errno != 0 {
		return nil, fmt.Errorf("poll: %w", errno)
	}
	d.ready = d.ready[:0]
	for i := 0; len(d.ready) < n; i++ {
		if p := &d.fds[i]; p.Revents != 0 {
			d.ready = append(d.ready, int(p.Fd))
		}
	}
	return d.ready, nil
}

func (d *pollDispatcher) close() {}
