package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// A client is one connection that never tries anything twice. It reads replies
// with net/http's reader. Its errors are returned, since most clients run
// beside the test.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

// dial connects. A small receive buffer keeps the kernel from taking a reply in
// the client's place.
func dial(addr string, small bool) (*client, error) {
	d := net.Dialer{Timeout: patience}
	if small {
		d.Control = func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) {
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
			})
		}
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReader(conn)}, nil
}

func (c *client) close() { c.conn.Close() }

func (c *client) send(text string) error {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.WriteString(c.conn, text)
	return err
}

// receive reads a whole reply, which must have status 200 and this body. It
// says whether the connection can be used again.
func (c *client) receive(body []byte) (keep bool, err error) {
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return false, fmt.Errorf("read reply: %w", err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return false, fmt.Errorf("read body after %d bytes: %w", len(got), err)
	}
	if res.StatusCode != http.StatusOK || !bytes.Equal(got, body) {
		return false, fmt.Errorf("status %d with %d bytes, not 200 with the %d expected", res.StatusCode, len(got), len(body))
	}
	return !res.Close, nil
}

// get is a plain request.
func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: test.example\r\n\r\n" }
