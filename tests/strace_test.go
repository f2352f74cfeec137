package tests

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	for _, variant := range loops {
		counts[variant] = trace(t, variant, func(addr string) { askMany(t, addr, requests) })
		t.Logf("%s: %v", variant, counts[variant])
	}
	for _, variant := range loops {
		if !maps.Equal(counts["epoll"], counts[variant]) {
			t.Errorf("epoll makes %v, %s %v", counts["epoll"], variant, counts[variant])
		}
	}
	reads, writes := transfers(counts["epoll"])
	// One of each for a request; a few more reads see the end.
	if writes != requests || reads < requests || reads > requests+10 {
		t.Errorf("%d reads and %d writes for %d requests", reads, writes, requests)
	}
}

// TestClosedAtOnce: a connection that its client has asked to close takes one
// call of each kind, and is not half-closed and read to its end first.
func TestClosedAtOnce(t *testing.T) {
	need(t, "strace")
	file := content(t, "100.html")
	for _, variant := range loops {
		calls := trace(t, variant, func(addr string) {
			for range 10 {
				c, err := dial(addr, false)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.send("GET /100.html HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				if keep, err := c.receive(file); err != nil || keep {
					t.Fatalf("kept %v, %v", keep, err)
				}
				c.close()
			}
		})
		if calls["read"] != 10 || calls["sendto"] != 10 || calls["shutdown"] != 0 {
			t.Errorf("%s: for 10 connections %v", variant, calls)
		}
	}
}

// TestPipelineWrittenTogether: the answers to requests that come together leave
// together.
func TestPipelineWrittenTogether(t *testing.T) {
	need(t, "strace")
	const depth = 16
	file := content(t, "100.html")
	for _, variant := range loops {
		calls := trace(t, variant, func(addr string) {
			c, err := dial(addr, false)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			if err := c.send(strings.Repeat(get("/100.html"), depth)); err != nil {
				t.Fatal(err)
			}
			for range depth {
				if _, err := c.receive(file); err != nil {
					t.Fatal(err)
				}
			}
		})
		if _, writes := transfers(calls); writes != 1 {
			t.Errorf("%s: %d writes for %d replies: %v", variant, writes, depth, calls)
		}
	}
}

// loops are the variants that differ in their dispatcher alone.
var loops = []string{"epoll", "poll", "select"}

// trace counts, by name, the calls that a variant makes on sockets while it
// serves talk.
func trace(t *testing.T, variant string, talk func(addr string)) map[string]int {
	t.Helper()
	calls := map[string]int{}
	for _, m := range onConnection.FindAllSubmatch(traceLog(t, traced, talk, variant), -1) {
		calls[string(m[1])]++
	}
	return calls
}

// traceLog is what strace writes of the calls that a variant with these flags
// makes while it serves talk.
func traceLog(t *testing.T, calls string, talk func(addr string), variant string, flags ...string) []byte {
	t.Helper()
	log := filepath.Join(t.TempDir(), "trace")
	s := serveUnder(t, []string{"strace", "-f", "-qq", "--seccomp-bpf", "-yy", "-e", "trace=" + calls, "-s", "0", "-o", log}, variant, flags...)
	talk(s.addr)
	s.stop()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// transfers sums up the calls that read and those that write.
func transfers(calls map[string]int) (reads, writes int) {
	for name, n := range calls {
		switch name {
		case "read", "readv", "recvfrom", "recvmsg":
			reads += n
		case "write", "writev", "sendto", "sendmsg":
			writes += n
		}
	}
	return reads, writes
}

// content is a file of what the program serves.
func content(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(built.fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// askMany sends requests one after another on one connection.
func askMany(t *testing.T, addr string, n int) {
	t.Helper()
	c, err := dial(addr, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	file := content(t, "100.html")
	for i := range n {
		if err := c.send(get("/100.html")); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if keep, err := c.receive(file); err != nil || !keep && i < n-1 {
			t.Fatalf("request %d: keep-alive %v, %v", i, keep, err)
		}
	}
}
