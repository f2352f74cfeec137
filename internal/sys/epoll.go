package sys

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EpollCreate opens an epoll instance, close-on-exec (epoll_create1(2)).
func EpollCreate() (fd int, errno unix.Errno) {
	r, _, e := unix.RawSyscall(unix.SYS_EPOLL_CREATE1, unix.EPOLL_CLOEXEC, 0, 0)
	return result(r, e)
}

// EpollCtl adds, changes or removes interest in fd (epoll_ctl(2)); op is one
// of unix.EPOLL_CTL_ADD, _MOD and _DEL. The events come back with fd.
func EpollCtl(epfd, op, fd int, events uint32) unix.Errno {
	ev := unix.EpollEvent{Events: events, Fd: int32(fd)}
	_, _, e := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	return e
}

// EpollWait waits for events (epoll_wait(2)): not at all for a timeout of 0,
// for ever for a negative one, else rounded up to a millisecond. It looks
// first without blocking, which under load finds something and then spares the
// way through the scheduler. A signal counts as a wait without events.
func EpollWait(epfd int, events []unix.EpollEvent, timeout time.Duration) (n int, errno unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if (e == 0 && r == 0 || e == unix.EINTR) && timeout != 0 {
		r, _, e = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), millis(timeout), 0, 0)
	}
	if e == unix.EINTR {
		return 0, 0
	}
	return result(r, e)
}

// Poll waits for events on fds (poll(2)), by the rules of [EpollWait]. n is
// the number of entries with Revents set.
func Poll(fds []unix.PollFd, timeout time.Duration) (n int, errno unix.Errno) {
	p := unsafe.Pointer(unsafe.SliceData(fds))
	r, _, e := unix.RawSyscall(unix.SYS_POLL, uintptr(p), uintptr(len(fds)), 0)
	if (e == 0 && r == 0 || e == unix.EINTR) && timeout != 0 {
		r, _, e = unix.Syscall(unix.SYS_POLL, uintptr(p), uintptr(len(fds)), millis(timeout))
	}
	if e == unix.EINTR {
		return 0, 0
	}
	return result(r, e)
}

// millis converts a timeout for the kernel, rounding up so that a deadline is
// never found a moment early.
func millis(d time.Duration) uintptr {
	if d < 0 {
		return ^uintptr(0)
	}
	return uintptr((d + time.Millisecond - 1) / time.Millisecond)
}
