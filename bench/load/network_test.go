package load

import (
	"net"
	"net/netip"
	"testing"
)

// TestNetwork: what is sent to this machine stays on loopback, whichever of its
// addresses is named.
func TestNetwork(t *testing.T) {
	want := map[string]string{
		"127.0.0.1": "loopback", "127.9.8.7": "loopback", "::1": "loopback", "0.0.0.0": "loopback",
		"192.0.2.1": "the network to 192.0.2.1", "2001:db8::1": "the network to 2001:db8::1",
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		want[a.(*net.IPNet).IP.String()] = "loopback"
	}
	for addr, name := range want {
		if got := network(netip.MustParseAddr(addr)); got != name {
			t.Errorf("%s is reached over %q, want %q", addr, got, name)
		}
	}
}
