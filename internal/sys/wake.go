package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EventFD opens an eventfd(2), non-blocking and close-on-exec, by which one
// thread ends another's wait.
func EventFD() (fd int, errno unix.Errno) {
	r, _, e := unix.RawSyscall(unix.SYS_EVENTFD2, 0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK, 0)
	return result(r, e)
}

// Wake makes an eventfd readable.
func Wake(fd int) {
	one := uint64(1)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8)
}

// ClearWake makes an eventfd unreadable again.
func ClearWake(fd int) {
	var v uint64
	unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&v)), 8)
}

// A Sleeper is one thread's wait for another, in futex(2). The zero value is
// ready.
type Sleeper struct{ woken atomic.Uint32 }

// The operations of futex(2) on a word of this process alone (linux/futex.h).
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// Sleep waits for a Rouse, of which there is one for each Sleep. It blocks the
// thread and tells the scheduler so.
func (s *Sleeper) Sleep() {
	for s.woken.Load() == 0 {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.woken)), futexWait, 0, 0, 0, 0)
	}
	s.woken.Store(0)
}

// Rouse ends the Sleep that goes on or comes next.
func (s *Sleeper) Rouse() {
	s.woken.Store(1)
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.woken)), futexWake, 1, 0, 0, 0)
}
