package tests

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// traced are the calls that the event loops make for connections and files.
const traced = "accept,accept4,read,readv,recvfrom,recvmsg,recvmmsg,write,writev,sendto,sendmsg,sendmmsg,sendfile,splice,close,shutdown,ioctl,setsockopt,getsockopt,fcntl"

// onConnection is a call on a TCP socket, as strace -yy shows it. A call that
// another thread's interrupts is on two lines, of which the first is counted.
// The Go runtime's own calls are on pipes and event descriptors.
var onConnection = regexp.MustCompile(`(?m)^\d+ +(\w+)\(\d+<TCP(?:v6)?:`)

// TestSameCalls: the dispatcher is the only difference between the event
// loops. For 10,000 requests on one connection they make the same calls on
// sockets, each as often.
func TestSameCalls(t *testing.T) {
	need(t, "strace")
	const requests = 10000
	counts := map[string]map[string]int{}
	for _, variant := range []string{"epoll", "poll"} {
		log := filepath.Join(t.TempDir(), "trace")
		s := serveUnder(t, []string{"strace", "-f", "-qq", "--seccomp-bpf", "-yy", "-e", "trace=" + traced, "-s", "0", "-o", log}, variant)
		askMany(t, s.addr, requests)
		s.stop()
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, m := range onConnection.FindAllSubmatch(b, -1) {
			n[string(m[1])]++
		}
		counts[variant] = n
		t.Logf("%s: %v", variant, n)
	}
	if !maps.Equal(counts["epoll"], counts["poll"]) {
		t.Errorf("epoll makes %v, poll %v", counts["epoll"], counts["poll"])
	}
	reads, writes := 0, 0
	for name, n := range counts["epoll"] {
		switch name {
		case "read", "readv", "recvfrom", "recvmsg":
			reads += n
		case "write", "writev", "sendto", "sendmsg":
			writes += n
		}
	}
	// One of each for a request; a few more reads see the end.
	if writes != requests || reads < requests || reads > requests+10 {
		t.Errorf("%d reads and %d writes for %d requests", reads, writes, requests)
	}
}

// askMany sends requests one after another on one connection.
func askMany(t *testing.T, addr string, n int) {
	t.Helper()
	c, err := dial(addr, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	file, err := os.ReadFile(filepath.Join(built.fixtures, "100.html"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := c.send(get("/100.html")); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if keep, err := c.receive(file); err != nil || !keep && i < n-1 {
			t.Fatalf("request %d: keep-alive %v, %v", i, keep, err)
		}
	}
}
