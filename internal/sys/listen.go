package sys

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultBacklog is the accept queue asked for when none is given; the kernel
// caps it at net.core.somaxconn.
const DefaultBacklog = 4096

// Listen opens a listening TCP socket, non-blocking and close-on-exec, that
// the caller owns. addr is host:port; an empty host means all IPv4 and IPv6
// addresses. backlog 0 means [DefaultBacklog]. Accepted sockets inherit
// TCP_NODELAY from it (tcp(7)), which spares a call for each of them.
func Listen(addr string, backlog int, reusePort bool) (fd int, err error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return -1, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if backlog == 0 {
		backlog = DefaultBacklog
	}
	family, sa := sockaddr(tcp)
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("listen on %s: socket: %w", addr, err)
	}
	fail := func(what string, err error) (int, error) {
		Close(fd)
		return -1, fmt.Errorf("listen on %s: %s: %w", addr, what, err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fail("set SO_REUSEADDR", err)
	}
	if reusePort {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fail("set SO_REUSEPORT", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fail("set TCP_NODELAY", err)
	}
	if err := unix.Bind(fd, sa); err != nil {
		return fail("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fail("listen", err)
	}
	return fd, nil
}

// DeferAccept has the kernel hold a connection back until its first bytes are
// there, for at most about the time given (TCP_DEFER_ACCEPT, tcp(7); it counts
// in retransmissions).
func DeferAccept(fd int, most time.Duration) error {
	seconds := max(int(most/time.Second), 1)
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, seconds); err != nil {
		return fmt.Errorf("set TCP_DEFER_ACCEPT: %w", err)
	}
	return nil
}

// sockaddr picks the family for an address: IPv6 with its IPv4 mapping for an
// empty one.
func sockaddr(tcp *net.TCPAddr) (family int, sa unix.Sockaddr) {
	ip, _ := netip.AddrFromSlice(tcp.IP)
	ip = ip.Unmap()
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: tcp.Port, Addr: ip.As4()}
	}
	sa6 := &unix.SockaddrInet6{Port: tcp.Port}
	if ip.IsValid() {
		sa6.Addr = ip.As16()
	}
	return unix.AF_INET6, sa6
}
