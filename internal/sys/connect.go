package sys

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Sockaddr is an address as the kernel reads it, made once by [NewSockaddr]
// and used for any number of calls.
type Sockaddr struct {
	Family int // unix.AF_INET or unix.AF_INET6
	raw    [unix.SizeofSockaddrInet6]byte
	size   uintptr
}

// NewSockaddr converts an address (ip(7), ipv6(7)). A zone must be numeric; it
// is left out otherwise.
func NewSockaddr(addr netip.AddrPort) Sockaddr {
	var s Sockaddr
	ip := addr.Addr().Unmap()
	binary.BigEndian.PutUint16(s.raw[2:], addr.Port())
	if ip.Is4() {
		s.Family, s.size = unix.AF_INET, unix.SizeofSockaddrInet4
		copy(s.raw[4:], ip.AsSlice())
	} else {
		s.Family, s.size = unix.AF_INET6, unix.SizeofSockaddrInet6
		copy(s.raw[8:], ip.AsSlice())
		binary.NativeEndian.PutUint32(s.raw[24:], zoneIndex(ip.Zone()))
	}
	binary.NativeEndian.PutUint16(s.raw[:], uint16(s.Family))
	return s
}

func zoneIndex(zone string) (n uint32) {
	for _, c := range []byte(zone) {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + uint32(c-'0')
	}
	return n
}

// Socket opens a TCP socket, non-blocking and close-on-exec (socket(2)).
func Socket(family int) (fd int, errno unix.Errno) {
	r, _, e := unix.RawSyscall(unix.SYS_SOCKET, uintptr(family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return result(r, e)
}

// SetInt sets an integer option of a socket (setsockopt(2)).
func SetInt(fd, level, option, value int) unix.Errno {
	v := int32(value)
	_, _, e := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option), uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
	return e
}

// Bind gives a socket its local address (bind(2)).
func Bind(fd int, addr *Sockaddr) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&addr.raw)), addr.size)
	return e
}

// Connect begins to connect a non-blocking socket (connect(2)): EINPROGRESS
// means that it becomes writable when connected.
func Connect(fd int, addr *Sockaddr) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&addr.raw)), addr.size)
	return e
}
