package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of a client. It is no expectation: a server that
// needs so long has failed, and the test says where.
const patience = 10 * time.Second

// A Client is one connection, in raw bytes.
type Client struct {
	*net.TCPConn
	in *bufio.Reader
	t  testing.TB

	once  bool // the server closes behind the first reply, which is checked
	spent bool // it has: the next request goes on a connection of its own
}

// Dial connects, and closes the connection when the test ends.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	return DialFrom(t, "", addr)
}

// DialEngine is Dial to an engine. One that closes behind its first reply is held
// to it, and asked for more on further connections.
func DialEngine(t testing.TB, e Engine, addr string) *Client {
	t.Helper()
	c := Dial(t, addr)
	c.once = e.Alone
	return c
}

// DialFrom is Dial from a source address.
func DialFrom(t testing.TB, source, addr string) *Client {
	t.Helper()
	d := net.Dialer{Timeout: patience}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{TCPConn: conn.(*net.TCPConn), t: t}
	c.in = bufio.NewReaderSize(c.TCPConn, 64<<10)
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return c
}

// Send writes everything. A server that has refused a request may have closed
// the connection before its end: what counts then is the reply.
func (c *Client) Send(request string) {
	c.t.Helper()
	c.renew()
	io.WriteString(c, request)
}

// renew connects again when the server has closed the connection as it should.
func (c *Client) renew() {
	c.t.Helper()
	if c.spent {
		again := Dial(c.t, c.RemoteAddr().String())
		c.TCPConn, c.in, c.spent = again.TCPConn, again.in, false
	}
}

// Dribble writes a request in small pieces, byte by byte if it is not long.
func (c *Client) Dribble(request string) {
	c.renew()
	const pieces = 3000
	step := 1 + len(request)/pieces
	for len(request) > 0 {
		n := min(step, len(request))
		if _, err := io.WriteString(c, request[:n]); err != nil {
			return
		}
		request = request[n:]
	}
}

// Receive reads the next message, interim ones too, as the answer to method.
func (c *Client) Receive(method string) (*Reply, error) {
	if c.in.Buffered() == 0 { // a connection may have lived long
		c.SetReadDeadline(time.Now().Add(patience))
	}
	r, err := readReply(c.in, method)
	if err != nil || !c.once || r.Status < http.StatusOK {
		return r, err
	}
	if r.Get("Connection") != "close" {
		return r, fmt.Errorf("field Connection %q on a server that keeps none", r.Get("Connection"))
	}
	if end := c.Ending(); end != Closed {
		return r, fmt.Errorf("a server that keeps no connection ends with %s", end)
	}
	c.spent = true
	return r, c.Close()
}

// Get sends a plain request on the connection and wants it answered with this
// status.
func (c *Client) Get(path string, status int) *Reply {
	c.t.Helper()
	c.Send(Get(path))
	return c.Want(http.MethodGet, status)
}

// Want receives the next message and wants it to have this status.
func (c *Client) Want(method string, status int) *Reply {
	c.t.Helper()
	r, err := c.Receive(method)
	if err != nil {
		c.t.Fatalf("want a reply with status %d: %v; received %.200q", status, err, r.Raw)
	}
	if r.Status != status {
		c.t.Fatalf("status %d, want %d; received %.200q", r.Status, status, r.Raw)
	}
	return r
}

// Get is a plain request for path.
func Get(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: test.example\r\n\r\n"
}

// An Ending is how a connection ended.
type Ending string

// The endings.
const (
	Closed   Ending = "close"   // in order, by a FIN
	Reset    Ending = "reset"   // by a RST
	Overdue  Ending = "overdue" // not at all, as long as the client had patience
	Babbling Ending = "data"    // not yet: there are more bytes
)

// Ending reads on where nothing more is expected.
func (c *Client) Ending() Ending {
	if c.spent {
		return Closed
	}
	b, err := c.in.ReadByte()
	var timeout net.Error
	switch {
	case err == nil:
		c.in.UnreadByte()
		return Babbling
	case err == io.EOF:
		return Closed
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Reset
	case errors.As(err, &timeout) && timeout.Timeout():
		return Overdue
	}
	return Ending(strings.TrimSpace(err.Error() + string(rune(b))))
}

// WantEnd wants the connection to end in this way now.
func (c *Client) WantEnd(want Ending) {
	c.t.Helper()
	if got := c.Ending(); got != want {
		more, _ := c.in.Peek(c.in.Buffered())
		c.t.Errorf("the connection ends with %s, want %s %.200q", got, want, more)
	}
}

// Abort ends the connection with a RST.
func (c *Client) Abort() {
	c.SetLinger(0)
	c.Close()
}
