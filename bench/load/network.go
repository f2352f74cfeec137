package load

import (
	"net"
	"net/netip"
)

// network says what lies between this machine and an address, as the end of
// "over ...". What is sent to an address of the machine itself stays on
// loopback.
func network(server netip.Addr) string {
	const loopback = "loopback"
	if server.IsLoopback() || server.IsUnspecified() {
		return loopback
	}
	own, _ := net.InterfaceAddrs() // without them the address is taken for another's
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && ip.Unmap() == server {
				return loopback
			}
		}
	}
	return "the network to " + server.String()
}
