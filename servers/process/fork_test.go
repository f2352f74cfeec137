package process

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/weighstone/weighstone"
)

// dial connects and asks; the reply's first line is for the caller to read.
func (r *run) dial() (net.Conn, *bufio.Reader) {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		r.t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// replied wants a reply.
func replied(t *testing.T, b *bufio.Reader) {
	t.Helper()
	if line, err := b.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		t.Fatalf("the reply begins with %q, %v", line, err)
	}
}

// TestProcessForEach: each connection has a process, which ends with it; above
// the bound connections wait in the queue; and one that was reset there is worth
// no process.
func TestProcessForEach(t *testing.T) {
	for name, create := range map[string]func(weighstone.Options) weighstone.Server{"fork": NewFork, "inetd": NewInetd} {
		t.Run(name, func(t *testing.T) {
			const most = 3
			r := beginAs(t, create, goodRole, weighstone.Options{Knobs: weighstone.Knobs{MaxWorkers: most}})
			alive := func() int { return len(childrenOf(os.Getpid())) }
			if n := alive(); n != 0 {
				t.Errorf("%d processes before the first connection", n)
			}
			var held []net.Conn
			for range most {
				c, reply := r.dial()
				replied(t, reply)
				held = append(held, c)
			}
			if n := alive(); n != most {
				t.Errorf("%d processes for %d connections", n, most)
			}
			for range 5 {
				c, _ := r.dial()
				if err := c.(*net.TCPConn).SetLinger(0); err != nil {
					t.Fatal(err)
				}
				c.Close()
			}
			_, waiting := r.dial()
			held[0].Close()
			replied(t, waiting)
			for _, c := range held[1:] {
				c.Close()
			}
			until(t, "one process, for the connection that is left", func() bool { return alive() == 1 })
			if n := r.server.Stats().Accepted; n != most+1 {
				t.Errorf("%d connections had a process, want %d", n, most+1)
			}
		})
	}
}
