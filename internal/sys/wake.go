package sys

import (
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
