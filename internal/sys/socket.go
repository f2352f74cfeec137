package sys

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Accept takes a connection from a listening socket (accept4(2)). The new
// descriptor is non-blocking and close-on-exec.
func Accept(fd int) (conn int, remote netip.AddrPort, errno unix.Errno) {
	return accept(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

// AcceptBlocking is Accept for a new descriptor that blocks. The listening
// socket does not.
func AcceptBlocking(fd int) (conn int, remote netip.AddrPort, errno unix.Errno) {
	return accept(fd, unix.SOCK_CLOEXEC)
}

func accept(fd int, flags uintptr) (conn int, remote netip.AddrPort, errno unix.Errno) {
	var sa unix.RawSockaddrAny
	size := uint32(unix.SizeofSockaddrAny)
	for {
		r, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)), flags, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return -1, netip.AddrPort{}, e
		}
		return int(r), addrPort(&sa), 0
	}
}

// LocalAddr returns the address a socket is bound to (getsockname(2)), the
// zero AddrPort when it cannot be told.
func LocalAddr(fd int) netip.AddrPort {
	var sa unix.RawSockaddrAny
	size := uint32(unix.SizeofSockaddrAny)
	_, _, e := unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)))
	if e != 0 {
		return netip.AddrPort{}
	}
	return addrPort(&sa)
}

// RemoteAddr returns the address at the other end of a connection
// (getpeername(2)), the zero AddrPort when it is gone.
func RemoteAddr(fd int) netip.AddrPort {
	var sa unix.RawSockaddrAny
	size := uint32(unix.SizeofSockaddrAny)
	_, _, e := unix.RawSyscall(unix.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)))
	if e != 0 {
		return netip.AddrPort{}
	}
	return addrPort(&sa)
}

// HalfClose ends the sending side of a connection (shutdown(2), SHUT_WR). It
// is never called on a listening socket.
func HalfClose(fd int) {
	unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_WR, 0)
}

// SocketError takes the pending error of a socket (SO_ERROR), 0 for none: the
// outcome of a non-blocking connect, or why a connection was lost.
func SocketError(fd int) unix.Errno {
	v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return unix.EBADF
	}
	return unix.Errno(v)
}

// addrPort converts the address of an IPv4 or IPv6 socket.
func addrPort(sa *unix.RawSockaddrAny) netip.AddrPort {
	switch sa.Addr.Family {
	case unix.AF_INET:
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(in.Addr), ntohs(in.Port))
	case unix.AF_INET6:
		in := (*unix.RawSockaddrInet6)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom16(in.Addr).Unmap(), ntohs(in.Port))
	}
	return netip.AddrPort{}
}

// ntohs reads a port, which lies in network byte order.
func ntohs(v uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&v))
	return uint16(b[0])<<8 | uint16(b[1])
}
