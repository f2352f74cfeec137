package servertest_test

import (
	"fmt"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// large is more than the buffers of both sockets hold, in bytes.
const large = 10 << 20

// TestEarlyReply: a reply that comes before a large body was read is not
// destroyed by a reset when the server closes (RFC 9112 section 9.6). The
// client reads only when it has sent everything.
func TestEarlyReply(t *testing.T) {
	body := string(pattern(large))
	length := fmt.Sprintf("Content-Length: %d", large)
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", large, body)
	cases := []struct {
		name, send string
		status     int
	}{
		{"405", request("POST", "/100.html", length) + body, 405},
		{"404 for a GET", request("GET", "/none", length) + body, 413},
		{"413 for an announced body", request("POST", "/test/mirror", length) + body, 413},
		{"413 for a chunked body", request("POST", "/test/mirror", "Transfer-Encoding: chunked") + chunk, 413},
		{"413 for a buffered body", request("POST", "/test/buffered", "Transfer-Encoding: chunked") + chunk, 413},
		{"405 for a chunked body", request("POST", "/100.html", "Transfer-Encoding: chunked") + chunk, 405},
		{"417", request("POST", "/test/mirror", "Content-Length: 100000", "Expect: tea") + body, 417},
		{"400", "BAD\r\n\r\n" + body, 400},
		{"431", get("/100.html", string(pattern(20000))) + body, 431},
		{"an answer to the request before", request("GET", "/100.html", "Connection: close") + body, 200},
	}
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{})
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				k := s.Dial(t)
				k.Send(c.send)
				if r := k.Want("POST", c.status); r.Get("Connection") != "close" {
					t.Errorf("Connection: %q, want close", r.Get("Connection"))
				}
				k.WantEnd(servertest.Closed)
			})
		}
	})
}

// TestUnreadBody: a handler that reads nothing of a large body ends the
// connection, and its reply arrives.
func TestUnreadBody(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{})
		c := s.Dial(t)
		c.Send(request("POST", "/test/unread", "Content-Length: 1000000") + string(pattern(1000000)))
		if r := c.Want("POST", 200); r.Get("Connection") != "close" || len(r.Body) != 77 {
			t.Errorf("Connection: %q, %d bytes", r.Get("Connection"), len(r.Body))
		}
		c.WantEnd(servertest.Closed)
	})
}

// TestBrokenStream: a reply whose body ends before its time never looks
// complete.
func TestBrokenStream(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{})
		for name, send := range map[string]string{
			"chunked":         get("/test/broken"),
			"known length":    get("/test/short"),
			"to the end":      "GET /test/broken HTTP/1.0\r\n\r\n",
			"1.0, known":      "GET /test/short HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
			"one in pipeline": get("/test/broken") + get("/100.html"),
		} {
			t.Run(name, func(t *testing.T) {
				c := s.Dial(t)
				c.Send(send)
				r, err := c.Receive("GET")
				if err == nil {
					t.Errorf("%d bytes of body look complete; received %.200q", len(r.Body), r.Raw)
				}
				if end := c.Ending(); end != servertest.Closed && end != servertest.Reset {
					t.Errorf("the connection ends with %s", end)
				}
			})
		}
		s.Dial(t).Get("/100.html", 200)
	})
}
