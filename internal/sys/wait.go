package sys

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Waiter waits for events with timeouts finer than a millisecond. Its zero
// value is ready; one thread uses it.
type Waiter struct{ coarse bool } // the kernel has no epoll_pwait2

// Wait waits as [EpollWait] does, but by the nanosecond (epoll_pwait2(2), from
// Linux 5.11). On an older kernel it rounds the timeout down to a millisecond,
// so that who waits for a moment polls the last stretch and is not late.
func (w *Waiter) Wait(epfd int, events []unix.EpollEvent, timeout time.Duration) (n int, errno unix.Errno) {
	if timeout <= 0 || w.coarse {
		return EpollWait(epfd, events, timeout.Truncate(time.Millisecond), 0)
	}
	if n, errno = EpollWait(epfd, events, 0, 0); n > 0 || errno != 0 {
		return n, errno
	}
	limit := unix.NsecToTimespec(int64(timeout))
	r, _, e := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	switch e {
	case unix.EINTR:
		return 0, 0
	case unix.ENOSYS, unix.EPERM: // EPERM: what some sandboxes say instead
		w.coarse = true
		return w.Wait(epfd, events, timeout)
	}
	return result(r, e)
}

// SetTimerSlack sets by how much the kernel may delay the timeouts of the
// calling thread to wake it together with others (PR_SET_TIMERSLACK,
// prctl(2)); 0 sets it back to what it was at first, usually 50 us.
func SetTimerSlack(d time.Duration) {
	unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0)
}
