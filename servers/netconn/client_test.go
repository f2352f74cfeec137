package netconn_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A client reads replies from a connection in order.
type client struct {
	*net.TCPConn
	r *bufio.Reader
}

func (r *running) client(t *testing.T) *client {
	c := r.dial(t)
	return &client{c, bufio.NewReader(c)}
}

func (c *client) send(t *testing.T, request string) {
	t.Helper()
	if _, err := io.WriteString(c.TCPConn, request); err != nil {
		t.Fatal("send request:", err)
	}
}

// A reply as the client saw it. err says why the body is incomplete.
type reply struct {
	*http.Response
	body []byte
	err  error
}

// reply reads the next reply to a request with this method.
func (c *client) reply(t *testing.T, method string) reply {
	t.Helper()
	res, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		t.Fatal("read reply:", err)
	}
	body, err := io.ReadAll(res.Body)
	return reply{res, body, err}
}

// ended fails unless the server has ended the stream without a further byte.
func (c *client) ended(t *testing.T) {
	t.Helper()
	if b, err := io.ReadAll(c.r); err != nil || len(b) > 0 {
		t.Errorf("want the end of the stream, got %q, %v", b, err)
	}
}

// get asks for a target and returns the reply.
func (c *client) get(t *testing.T, target string) reply {
	t.Helper()
	c.send(t, request("GET", target, "1.1", ""))
	return c.reply(t, "GET")
}

// request is a request with further header lines, each ended by CRLF.
func request(method, target, version, lines string) string {
	return fmt.Sprintf("%s %s HTTP/%s\r\nHost: test\r\n%s\r\n", method, target, version, lines)
}

// meaning is what all engines must send alike: status, header lines but for the
// date, and body.
func (r reply) meaning() string {
	var lines []string
	for name, values := range r.Header {
		if name == "Date" {
			values = []string{fmt.Sprint(len(values), " date")}
		}
		for _, v := range values {
			lines = append(lines, name+": "+v)
		}
	}
	slices.Sort(lines)
	body := r.body
	if len(body) > 200 {
		body = append(bytes.Clone(body[:200]), fmt.Sprint(" ... ", len(r.body))...)
	}
	return fmt.Sprintf("%d te %v close %v\n%s\n\n%s", r.StatusCode, r.TransferEncoding, r.Close, strings.Join(lines, "\n"), body)
}
