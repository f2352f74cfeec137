package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking descriptor (read(2)). n is 0 at the end of
// the stream.
func Read(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// ReadCached reads of a file what is in memory, from offset on (preadv2(2),
// RWF_NOWAIT). EAGAIN says that the first byte is not, EOPNOTSUPP that the file
// system can't tell; n is 0 at the end of the file.
func ReadCached(fd int, b []byte, offset int64) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(len(b))
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, uintptr(offset), uintptr(offset>>32), unix.RWF_NOWAIT)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// Send writes to a socket what it takes at once (send(2), MSG_DONTWAIT), without
// SIGPIPE. So it does not block on a blocking one either.
func Send(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// Idle says whether nothing has come on a non-blocking socket, not even its
// end or an error.
func Idle(fd int) bool {
	var b byte
	_, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	return e == unix.EAGAIN || e == unix.EINTR
}

// SendMore is Send with MSG_MORE: more bytes follow at once, so that a head
// and the file behind it share their first packet.
func SendMore(fd int, b []byte) (n int, errno unix.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT|unix.MSG_MORE, 0, 0)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// SendTwo writes a then b with one sendmsg(2).
func SendTwo(fd int, a, b []byte) (n int, errno unix.Errno) {
	if len(a) == 0 {
		return Send(fd, b)
	}
	if len(b) == 0 {
		return Send(fd, a)
	}
	var iov [2]unix.Iovec
	iov[0].Base = &a[0]
	iov[0].SetLen(len(a))
	iov[1].Base = &b[0]
	iov[1].SetLen(len(b))
	var msg unix.Msghdr
	msg.Iov = &iov[0]
	msg.Iovlen = 2
	for {
		r, _, e := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// Sendfile moves up to n bytes of the file in, from *offset on, to the socket
// out (sendfile(2)) and advances *offset. It does not go through RawSyscall: a
// file that is not in memory is waited for, as is a blocking socket.
func Sendfile(out, in int, offset *int64, n int) (sent int, errno unix.Errno) {
	for {
		r, _, e := unix.Syscall6(unix.SYS_SENDFILE, uintptr(out), uintptr(in), uintptr(unsafe.Pointer(offset)), uintptr(n), 0, 0)
		if e != unix.EINTR {
			return result(r, e)
		}
	}
}

// Cork keeps what is written to a TCP socket together until there is a full
// packet or it is uncorked (TCP_CORK, tcp(7)). It fails on no connected socket.
func Cork(fd int, on bool) {
	v := int32(0)
	if on {
		v = 1
	}
	unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_CORK, uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
}

// Close closes a descriptor (close(2)). On Linux it is gone whatever close
// answers, so there is nothing to report.
func Close(fd int) {
	unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
}

func result(r uintptr, e unix.Errno) (int, unix.Errno) {
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}
