package netconn

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// gated returns a connection behind a gate, and the client's end.
func gated(t *testing.T) (*Conn, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(weighstone.Options{})
	if h.site, err = weighstone.NewSite(100); err != nil {
		t.Fatal(err)
	}
	c, err := h.newConn(accepted.(*net.TCPConn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(); _ = c.Close() })
	_ = client.SetDeadline(time.Now().Add(20 * time.Second))
	return c, client.(*net.TCPConn)
}

const (
	plain   = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	posted  = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
	chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nT: v\r\n\r\n"
)

// TestGatePasses sends well-formed requests whole and byte by byte, and reads
// them through buffers of several sizes.
func TestGatePasses(t *testing.T) {
	long := "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 8000) + "\r\n\r\n"
	cases := []struct{ name, send, want string }{
		{"one", plain, plain},
		{"many", strings.Repeat(plain, 300), strings.Repeat(plain, 300)},
		{"bodies", posted + plain + chunked + posted, posted + plain + chunked + posted},
		{"empty lines", "\r\n" + plain + "\r\n\r\n" + posted + "\r\n" + chunked, plain + posted + chunked},
		{"long", long + posted + long, long + posted + long},
		{"minor", "GET / HTTP/1.7\r\nHost: a\r\n\r\n", plain},
	}
	for _, tc := range cases {
		for _, size := range []int{2, 7, 1500, 16 << 10} {
			for _, bytewise := range []bool{false, true} {
				if bytewise && len(tc.send) > 1000 {
					continue
				}
				t.Run(fmt.Sprintf("%s by %d bytewise %v", tc.name, size, bytewise), func(t *testing.T) {
					c, client := gated(t)
					go func() {
						if !bytewise {
							_, _ = io.WriteString(client, tc.send)
						} else {
							for i := range len(tc.send) {
								_, _ = client.Write([]byte(tc.send[i : i+1]))
								time.Sleep(100 * time.Microsecond)
							}
						}
						_ = client.CloseWrite()
					}()
					var got []byte
					next := make([]byte, size)
					if size == 7 { // net/http looks for a first byte
						next = next[:1]
					}
					for {
						n, err := c.Read(next)
						got = append(got, next[:n]...)
						next = next[:size]
						if err != nil {
							if err != io.EOF {
								t.Error(err)
							}
							break
						}
					}
					if string(got) != tc.want {
						t.Errorf("passed %q,\nwant %q", got, tc.want)
					}
				})
			}
		}
	}
}

// TestGateRefuses sends something malformed behind well-formed requests: these
// pass, the rest is answered and held back.
func TestGateRefuses(t *testing.T) {
	cases := []struct{ name, send, status string }{
		{"two framings", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
		{"chunks in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", "400"},
		{"folded", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "400"},
		{"version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505"},
		{"coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
		{"long line", "GET /" + strings.Repeat("x", 9000), "414"},
		{"long head", "GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: "+strings.Repeat("y", 997)+"\r\n", 17), "431"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, client := gated(t)
			if _, err := io.WriteString(client, plain+posted+tc.send); err != nil {
				t.Fatal(err)
			}
			var got []byte
			for buf := make([]byte, 4096); ; {
				n, err := c.Read(buf)
				if got = append(got, buf[:n]...); err != nil {
					break
				}
			}
			if string(got) != plain+posted {
				t.Errorf("passed %q", got)
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 of the library's own\r\n\r\n"))
			go c.Close()
			b, err := io.ReadAll(client)
			if err != nil || !bytes.HasPrefix(b, []byte("HTTP/1.1 "+tc.status+" ")) || bytes.Count(b, []byte("HTTP/1.1")) != 1 {
				t.Errorf("answered %q, %v", b, err)
			}
		})
	}
}

// TestGateBody sends bodies that break off: what is wrong is not passed on.
func TestGateBody(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	for body, status := range map[string]int{
		"5\r\nhello\r\nx\r\n": 400,
		"5\r\nhelloo\r\n":     400,
		"65\r\n":              413, // one more than the site takes
		"64\r\n" + strings.Repeat("x", 100) + "\r\n1\r\nx\r\n": 413,
	} {
		c, client := gated(t)
		if _, err := io.WriteString(client, head+body); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		var err error
		for err == nil {
			_, err = c.Read(buf)
		}
		judged, ok := err.(*BodyError)
		if !ok || judged.Status() != status {
			t.Errorf("%q: %v, want status %d", body, err, status)
		}
	}
}

// TestDropInterim takes the unasked 100 out of what a library with a buffer of
// n bytes writes, whatever was in it.
func TestDropInterim(t *testing.T) {
	reply := "HTTP/1.1 200 OK\r\nX: HTTP/1.1 1\r\n\r\nHTTP/1.1 100 Co"
	for n := 1; n < 100; n++ {
		c, client := gated(t)
		stream := reply + string(interim)
		c.DropInterim()
		cut := min(n, len(stream)) // what bufio flushes when it is full
		for _, part := range []string{stream[:cut], stream[cut:]} {
			if part == "" {
				continue
			}
			if m, err := c.Write([]byte(part)); m != len(part) || err != nil {
				t.Fatal(m, err)
			}
		}
		if _, err := io.WriteString(c, "next"); err != nil {
			t.Fatal(err)
		}
		go c.Close()
		if b, err := io.ReadAll(client); string(b) != reply+"next" || err != nil {
			t.Errorf("cut at %d: got %q, %v", n, b, err)
		}
	}
}
