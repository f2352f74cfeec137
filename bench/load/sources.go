package load

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// Who closes a TCP connection first keeps its pair of addresses and ports for
// a minute (RFC 9293 section 3.10.7, TIME-WAIT). A client that does so has
// soon used up the ports of one address, unless the kernel lets it reuse them
// (tcp_tw_reuse, by default on loopback alone). Hence many addresses.

// autoSources is how many loopback addresses such a client takes: enough for
// 1,000 ports an address at 16,000 connections a second.
const autoSources = 1024

// pickSources are the local addresses of the clients' connections, none for
// the kernel's choice.
func (c *Config) pickSources(server netip.Addr) []netip.Addr {
	if len(c.Sources) > 0 || !c.CloseFirst || c.PerConn == 0 || !server.Is4() || !server.IsLoopback() {
		return c.Sources
	}
	sources := make([]netip.Addr, autoSources)
	for i := range sources {
		const perNet = 250
		sources[i] = netip.AddrFrom4([4]byte{127, 1, byte(i / perNet), byte(1 + i%perNet)})
	}
	return sources
}

// checkSources says whether the addresses that the user named are ones that a
// connection to server can come from.
func checkSources(sources []netip.Addr, server netip.Addr) error {
	for _, a := range sources {
		if a.Is4() != server.Is4() {
			return fmt.Errorf("load: source %s and server %s are of different IP versions", a, server)
		}
		addr := sys.NewSockaddr(netip.AddrPortFrom(a, 0))
		fd, errno := sys.Socket(addr.Family)
		if errno != 0 {
			return fmt.Errorf("load: open a socket: %w", errno)
		}
		sys.SetInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		errno = sys.Bind(fd, &addr)
		sys.Close(fd)
		if errno != 0 {
			return fmt.Errorf("load: source %s: %w", a, errno)
		}
	}
	return nil
}

// Ports is what the kernel says about the ports that it gives out.
type Ports struct {
	Range int    // how many an address has (ip_local_port_range, ip(7)); 0: not known
	Reuse string // tcp_tw_reuse: "0" never, "1" always, "2" on loopback; empty: not known
}

func readPorts() (p Ports) {
	words := strings.Fields(readSysctl("ip_local_port_range"))
	if len(words) == 2 {
		low, _ := strconv.Atoi(words[0])
		high, _ := strconv.Atoi(words[1])
		p.Range = max(high-low+1, 0)
	}
	p.Reuse = strings.TrimSpace(readSysctl("tcp_tw_reuse"))
	return p
}

func readSysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
	if err != nil {
		return ""
	}
	return string(b)
}

// noteNoPort counts a connection that could not begin for want of a port.
func (w *worker) noteNoPort(errno unix.Errno) {
	if errno == unix.EADDRNOTAVAIL {
		w.counts.noPort++
	}
}
