package loop

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// selectDispatcher hands two bitmaps to the kernel at every wait, and looks
// through both afterwards (select(2)). They have room for the descriptors
// below [sys.SetSize] and no others.
//
// Select can't tell that a client has ended its side from that it has sent
// more. For those that are asked for evGone, what select finds readable is
// looked at with poll(2), which can; while it is only more data, it stands
// aside, and is looked at with every wait, which then lasts no longer than
// asideEvery.
type selectDispatcher struct {
	in, out sys.FdSet // what is waited for
	gone    sys.FdSet // those of in that are waited for to end only
	highest int       // no descriptor in a set is above it
	aside   []unix.PollFd
	ready   []int
}

// asideEvery is how soon after it the end of a client is seen that has sent
// more than its request before.
const asideEvery = 100 * time.Millisecond

func newSelect() (dispatcher, error) { return &selectDispatcher{}, nil }

func (d *selectDispatcher) set(fd int, events uint32) error {
	if fd >= sys.SetSize {
		return fmt.Errorf("select: descriptor %d is not below FD_SETSIZE, %d", fd, sys.SetSize)
	}
	d.clear(fd)
	switch events {
	case evOut:
		d.out.Set(fd)
	case evGone:
		d.gone.Set(fd)
		d.in.Set(fd)
	default:
		d.in.Set(fd)
	}
	d.highest = max(d.highest, fd)
	return nil
}

func (d *selectDispatcher) del(fd int, _ bool) error {
	if fd < sys.SetSize {
		d.clear(fd)
	}
	return nil
}

func (d *selectDispatcher) clear(fd int) {
	d.in.Clear(fd)
	d.out.Clear(fd)
	if d.gone.Has(fd) {
		d.gone.Clear(fd)
		d.aside = slices.DeleteFunc(d.aside, func(p unix.PollFd) bool { return int(p.Fd) == fd })
	}
}

func (d *selectDispatcher) once(fd int) error           { return d.set(fd, evIn) }
func (d *selectDispatcher) forget(fd int, _ bool) error { return d.del(fd, false) }

func (d *selectDispatcher) wait(timeout time.Duration, share bool) ([]int, error) {
	if share {
		runtime.Gosched()
	}
	d.ready = d.ready[:0]
	if err := d.lookAside(0); err != nil {
		return nil, err
	}
	switch {
	case len(d.ready) > 0:
		timeout = 0
	case len(d.aside) > 0 && (timeout < 0 || timeout > asideEvery):
		timeout = asideEvery
	}
	in, out := d.in, d.out
	n, errno := sys.Select(d.highest+1, &in, &out, timeout, held(share))
	if errno != 0 {
		return nil, fmt.Errorf("select: %w", errno)
	}
	if n == 0 {
		return d.ready, nil
	}
	before := len(d.aside)
	for i := range d.highest/64 + 1 {
		for word := in[i] | out[i]; word != 0; word &= word - 1 {
			fd := i*64 + bits.TrailingZeros64(word)
			if d.gone.Has(fd) {
				d.in.Clear(fd)
				d.aside = append(d.aside, unix.PollFd{Fd: int32(fd), Events: evGone})
				continue
			}
			d.ready = append(d.ready, fd)
		}
	}
	return d.ready, d.lookAside(before)
}

// lookAside adds to ready those that stand aside, from a place on, and whose
// client has left.
func (d *selectDispatcher) lookAside(from int) error {
	if from == len(d.aside) {
		return nil
	}
	n, errno := sys.Poll(d.aside[from:], 0, 0)
	if errno != 0 {
		return fmt.Errorf("poll: %w", errno)
	}
	for i := from; n > 0; i++ {
		if p := &d.aside[i]; p.Revents != 0 {
			d.ready = append(d.ready, int(p.Fd))
			n--
		}
	}
	return nil
}

func (d *selectDispatcher) close() {}
