package sys

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetSize is FD_SETSIZE: a set of select(2) has one bit for each descriptor
// below it, and none for others. The size is part of the kernel's and the C
// library's interface; a larger set needs a larger number in every program.
const SetSize = unix.FD_SETSIZE

// An FdSet is a set of descriptors below [SetSize] (select(2)).
type FdSet [SetSize / 64]uint64

// Set, Clear and Has put in, take out and look up a descriptor.
func (s *FdSet) Set(fd int)      { s[fd/64] |= 1 << (fd % 64) }
func (s *FdSet) Clear(fd int)    { s[fd/64] &^= 1 << (fd % 64) }
func (s *FdSet) Has(fd int) bool { return s[fd/64]&(1<<(fd%64)) != 0 }

// Select waits until one of the first n descriptors is readable, if it is in
// in, or writable, if it is in out, by the rules of [EpollWait]. It leaves in
// the sets those that are; on a timeout or a signal, none.
func Select(n int, in, out *FdSet, timeout, hold time.Duration) (ready int, errno unix.Errno) {
	askedIn, askedOut := *in, *out
	held, rest := split(timeout, hold)
	first := unix.NsecToTimespec(int64(held))
	r, _, e := unix.RawSyscall6(unix.SYS_PSELECT6, uintptr(n), uintptr(unsafe.Pointer(in)), uintptr(unsafe.Pointer(out)), 0, uintptr(unsafe.Pointer(&first)), 0)
	if waitOn(r, e, held, rest) {
		*in, *out = askedIn, askedOut // the call has emptied them
		var limit *unix.Timespec
		if rest > 0 {
			t := unix.NsecToTimespec(int64(rest))
			limit = &t
		}
		r, _, e = unix.Syscall6(unix.SYS_PSELECT6, uintptr(n), uintptr(unsafe.Pointer(in)), uintptr(unsafe.Pointer(out)), 0, uintptr(unsafe.Pointer(limit)), 0)
	}
	if e == unix.EINTR {
		*in, *out = FdSet{}, FdSet{}
		return 0, 0
	}
	return result(r, e)
}
