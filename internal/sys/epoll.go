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
// for ever for a negative one, else rounded up to a millisecond. A signal counts
// as a wait without events.
//
// For hold, or until there are events, it waits without a word to the Go
// scheduler, so that the thread keeps its share of GOMAXPROCS: for a loop whose
// next event is never far. Then, or at once if hold is 0, it tells it. When the
// runtime wants the thread, to collect garbage or for another goroutine, it sends
// it a signal, which ends the wait.
func EpollWait(epfd int, events []unix.EpollEvent, timeout, hold time.Duration) (n int, errno unix.Errno) {
	held, rest := split(timeout, hold)
	r, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), millis(held), 0, 0)
	if waitOn(r, e, held, rest) {
		r, _, e = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), millis(rest), 0, 0)
	}
	if e == unix.EINTR {
		return 0, 0
	}
	return result(r, e)
}

// Poll waits for events on fds (poll(2)), by the rules of [EpollWait]. n is
// the number of entries with Revents set.
func Poll(fds []unix.PollFd, timeout, hold time.Duration) (n int, errno unix.Errno) {
	held, rest := split(timeout, hold)
	p := unsafe.Pointer(unsafe.SliceData(fds))
	r, _, e := unix.RawSyscall(unix.SYS_POLL, uintptr(p), uintptr(len(fds)), millis(held))
	if waitOn(r, e, held, rest) {
		r, _, e = unix.Syscall(unix.SYS_POLL, uintptr(p), uintptr(len(fds)), millis(rest))
	}
	if e == unix.EINTR {
		return 0, 0
	}
	return result(r, e)
}

// split parts a wait into that without the scheduler's knowledge and the rest,
// 0 for none.
func split(timeout, hold time.Duration) (held, rest time.Duration) {
	switch {
	case timeout < 0:
		return hold, timeout
	case timeout <= hold:
		return timeout, 0
	}
	return hold, timeout - hold
}

// waitOn says whether the second part of a wait follows on the first. After a
// signal it does only if the first was but a look: else somebody wants the thread.
func waitOn(ready uintptr, e unix.Errno, held, rest time.Duration) bool {
	return rest != 0 && (e == 0 && ready == 0 || e == unix.EINTR && held == 0)
}

// millis converts a timeout for the kernel, rounding up so that a deadline is
// never found a moment early.
func millis(d time.Duration) uintptr {
	if d < 0 {
		return ^uintptr(0)
	}
	return uintptr((d + time.Millisecond - 1) / time.Millisecond)
}
