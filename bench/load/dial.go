package load

import (
	"net/netip"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// A dialer opens connections to one server, from its sources in turn. One
// worker uses it.
type dialer struct {
	server  sys.Sockaddr
	sources []sys.Sockaddr
	next    int
	noDelay bool // requests may be under way while another is sent
	window  int  // the receive buffer in bytes; 0: the kernel's choice
	dials   uint64
}

// slowWindow is the receive buffer of a slow reader, which the kernel doubles.
const slowWindow = 4096

func newDialer(server netip.AddrPort, sources []netip.Addr, noDelay bool) *dialer {
	d := &dialer{server: sys.NewSockaddr(server), noDelay: noDelay}
	for _, s := range sources {
		d.sources = append(d.sources, sys.NewSockaddr(netip.AddrPortFrom(s, 0)))
	}
	return d
}

// from has this worker's dialer begin at its share of the sources.
func (d *dialer) from(worker, workers int) { d.next = len(d.sources) * worker / workers }

// dial begins a connection. It is connected when errno is 0, on its way when
// it is EINPROGRESS; otherwise there is no descriptor.
func (d *dialer) dial() (fd int, errno unix.Errno) {
	fd, errno = sys.Socket(d.server.Family)
	if errno != 0 {
		return -1, errno
	}
	d.dials++
	if d.window > 0 {
		sys.SetInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, d.window)
	}
	if d.noDelay {
		sys.SetInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if len(d.sources) > 0 {
		// The port is chosen at connect, when the server's address counts
		// too: else a source address has 28,232 connections in all (ip(7)).
		sys.SetInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		errno = sys.Bind(fd, &d.sources[d.next])
		d.next = (d.next + 1) % len(d.sources)
	}
	if errno == 0 {
		errno = sys.Connect(fd, &d.server)
	}
	if errno != 0 && errno != unix.EINPROGRESS {
		sys.Close(fd)
		return -1, errno
	}
	return fd, errno
}

// connectFault says whose fault it is that there is no connection: the local
// ones are out of ports, descriptors or memory, or not allowed.
func connectFault(e unix.Errno) bench.Fault {
	switch e {
	case unix.ECONNRESET, unix.EPIPE:
		return bench.FaultReset
	case unix.ETIMEDOUT:
		return bench.FaultTimeout
	case unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENETDOWN:
		return bench.FaultRefused
	}
	return bench.FaultLocal
}

// lostFault says why an established connection was lost.
func lostFault(e unix.Errno) bench.Fault {
	if e == unix.ETIMEDOUT {
		return bench.FaultTimeout
	}
	return bench.FaultReset
}
