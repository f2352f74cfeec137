package sys

import (
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of this file block on a blocking descriptor, so they enter the
// scheduler: a thread that blocks without telling it holds up every collection
// of garbage. A signal ends a wait that has a time limit (signal(7)); the
// caller, which knows how much of the limit is left, sees EINTR.

// AcceptWait takes a connection from a blocking listening socket (accept4(2)),
// waiting as long as its SO_RCVTIMEO allows, which EAGAIN says is over. The new
// descriptor is blocking and close-on-exec.
func AcceptWait(fd int) (conn int, remote netip.AddrPort, errno unix.Errno) {
	var sa unix.RawSockaddrAny
	size := uint32(unix.SizeofSockaddrAny)
	r, _, e := unix.Syscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)), unix.SOCK_CLOEXEC, 0, 0)
	if e != 0 {
		return -1, netip.AddrPort{}, e
	}
	return int(r), addrPort(&sa), 0
}

// ReadWait reads from a blocking descriptor (read(2)).
func ReadWait(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	r, _, e := unix.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return result(r, e)
}

// ReadBrief is ReadWait without a word to the scheduler: for a socket whose
// SO_RCVTIMEO is a few milliseconds, in a process whose other goroutines can
// wait as long.
func ReadBrief(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	r, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return result(r, e)
}

// SendWait writes to a blocking socket (send(2)) without SIGPIPE. What was
// taken before a signal or the end of SO_SNDTIMEO counts.
func SendWait(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	r, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return result(r, e)
}

// ReadNow reads from a blocking socket what is there already (recv(2),
// MSG_DONTWAIT), EAGAIN for nothing.
func ReadNow(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// Queued says whether bytes have arrived on a socket that nobody has read.
func Queued(fd int) bool {
	var b [1]byte
	r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0)
	return e == 0 && r > 0
}

// QueueLength is how many connections wait in the accept queue of a listening
// socket (TCP_INFO, tcp(7), of whose fields one stands for that), 0 if it cannot
// be told.
func QueueLength(fd int) int {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return int(info.Unacked)
}

// SetTimeout bounds the waits of calls on a blocking socket (SO_RCVTIMEO,
// SO_SNDTIMEO, socket(7)), by a millisecond at least: zero would mean for ever.
func SetTimeout(fd, option int, d time.Duration) unix.Errno {
	v := unix.NsecToTimeval(int64(max(d, time.Millisecond)))
	_, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, uintptr(option), uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
	return e
}

// ShutDown ends both directions of a connection (shutdown(2)): whoever waits on
// it sees its end. It is never called on a listening socket.
func ShutDown(fd int) {
	unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_RDWR, 0)
}

// ResetOnClose makes the close of a connection a reset (SO_LINGER, socket(7)),
// which the client sees as a failure.
func ResetOnClose(fd int) unix.Errno {
	v := unix.Linger{Onoff: 1, Linger: 0}
	_, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_LINGER, uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
	return e
}
