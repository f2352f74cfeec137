package servertest_test

import (
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// hasty are limits that a test can wait for.
func hasty() weighstone.Options {
	const short = 300 * time.Millisecond
	return weighstone.Options{Limits: weighstone.Limits{Header: short, Body: short, Write: short, Idle: short}}
}

// dribble sends a byte every now and then until stop is closed, and says
// whether the text was used up.
func dribble(c *servertest.Client, text string, stop <-chan struct{}) (all bool) {
	for i := range len(text) {
		select {
		case <-stop:
			return false
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := c.Write([]byte(text[i : i+1])); err != nil {
			return false
		}
	}
	return true
}

// TestSlowClients: neither a head nor a body may take for ever, however
// steadily bytes of it arrive. The texts would take 20 times the limit.
func TestSlowClients(t *testing.T) {
	long := string(pattern(300))
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, hasty())
		cases := []struct {
			name, first, then string
			before            []int // what is answered before
		}{
			{"head", "GET /100.html HTTP/1.1\r\nX: ", long, nil},
			{"second head", get("/100.html") + "GET /100.html HTTP/1.1\r\nX: ", long, []int{200}},
			{"request line", "GET /", long, nil},
			{"body", request("POST", "/test/mirror", "Content-Length: 1000"), long, nil},
			{"buffered body", request("POST", "/test/buffered", "Content-Length: 1000"), long, nil},
			{"chunked body", request("POST", "/test/mirror", "Transfer-Encoding: chunked") + "1000\r\n", long, nil},
			{"chunk size", request("POST", "/test/mirror", "Transfer-Encoding: chunked") + "5;", long, nil},
			{"dropped body", request("POST", "/100.html", "Content-Length: 1000"), long, []int{405}},
			{"nothing at all", "", "", nil},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				k := s.Dial(t)
				k.Send(c.first)
				stop, all := make(chan struct{}), make(chan bool)
				go func() { all <- c.then != "" && dribble(k, c.then, stop) }()
				for _, status := range c.before {
					k.Want("POST", status)
				}
				// A parser that reads a chunk's size by itself may take the end of
				// its patience for the end of the line.
				if r, err := k.Receive("POST"); err == nil && r.Status != 408 && !(r.Status == 400 && c.name == "chunk size") {
					t.Errorf("status %d, want 408 or none", r.Status)
				}
				if end := k.Ending(); end != servertest.Closed && end != servertest.Reset {
					t.Errorf("the connection ends with %s", end)
				}
				close(stop)
				if <-all {
					t.Error("the server took it all")
				}
			})
		}
	})
}

// TestIdle: a connection without requests is closed in order.
func TestIdle(t *testing.T) {
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, hasty())
		c := s.Dial(t)
		c.Get("/100.html", 200)
		c.WantEnd(servertest.Closed)
	})
}

// dialSmall connects with a small receive buffer, so that the kernel does not
// take the reply in the client's place.
func dialSmall(t *testing.T, addr string) net.Conn {
	t.Helper()
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestDeafClients: one that stops reading in the middle of a reply is dropped
// when it has taken nothing for the write limit.
func TestDeafClients(t *testing.T) {
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		s, server := suite(t, e, hasty())
		for name, send := range map[string]string{
			"a large file":             get("/4m.bin"),
			"200 KB from disk":         strings.Repeat(get("/200k.bin"), 40), // the kernel takes one at once
			"small files from memory":  strings.Repeat(get("/100.html"), 40000),
			"larger files from memory": strings.Repeat(get("/20k.html"), 400),
			"a stream":                 get("/test/endless"),
		} {
			if e.Alone && strings.Count(send, "GET ") > 1 {
				continue // it answers the first, which the kernel takes
			}
			t.Run(name, func(t *testing.T) {
				c := dialSmall(t, s.Addr)
				go io.WriteString(c, send) // until the server takes no more
				if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				awaitConns(t, server, 0)
			})
		}
	})
}

// awaitConns waits until the server counts n connections.
func awaitConns(t *testing.T, s *servertest.Server, n int64) {
	t.Helper()
	var sum int64
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		sum = 0
		for _, in := range s.Stats().Conns {
			sum += in
		}
		if sum == n {
			return
		}
	}
	t.Fatalf("the server counts %d connections (%v), want %d", sum, s.Stats().Conns, n)
}

// TestSlowReader: a client that takes a little at a time is served, however
// long the whole takes.
func TestSlowReader(t *testing.T) {
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, hasty())
		c := dialSmall(t, s.Addr)
		io.WriteString(c, get("/200k.bin", "Connection: close"))
		got, buf := 0, make([]byte, 4000)
		for {
			n, err := c.Read(buf)
			got += n
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
			time.Sleep(15 * time.Millisecond)
		}
		if got < 200<<10 {
			t.Errorf("%d bytes", got)
		}
	})
}
