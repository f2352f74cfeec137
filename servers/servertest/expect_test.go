package servertest_test

import (
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestContinue: a client that waits for a 100 gets it when the body is wanted,
// and a final reply when it is not (RFC 9110 section 10.1.1).
func TestContinue(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{})
		for name, path := range map[string]string{"streamed": "/test/mirror", "buffered": "/test/buffered"} {
			t.Run(name, func(t *testing.T) {
				c := s.Dial(t)
				for range 2 {
					c.Send(request("POST", path, "Expect: 100-Continue", "Content-Length: 5"))
					c.Want("POST", 100)
					c.Send("hello")
					if r := c.Want("POST", 200); string(r.Body) != "hello" {
						t.Errorf("body %q", r.Body)
					}
				}
				c.Get("/100.html", 200)
			})
		}
		t.Run("chunked", func(t *testing.T) {
			c := s.Dial(t)
			c.Send(request("POST", "/test/mirror", "Expect: 100-continue", "Transfer-Encoding: chunked"))
			c.Want("POST", 100)
			c.Send("5\r\nhello\r\n0\r\n\r\n")
			if r := c.Want("POST", 200); string(r.Body) != "hello" {
				t.Errorf("body %q", r.Body)
			}
			c.Get("/100.html", 200)
		})
		for _, refused := range []struct {
			name, head string
			status     int
		}{
			{"method", request("POST", "/100.html", "Expect: 100-continue", "Content-Length: 5"), 405},
			{"path", request("POST", "/none", "Expect: 100-continue", "Content-Length: 5"), 405},
			{"size", request("POST", "/test/mirror", "Expect: 100-continue", "Content-Length: 10000000"), 413},
			{"size of what is buffered", request("POST", "/test/buffered", "Expect: 100-continue", "Content-Length: 100000"), 413},
			{"expectation", request("POST", "/test/mirror", "Expect: 100-continue, tea", "Content-Length: 5"), 417},
		} {
			t.Run("refused for its "+refused.name, func(t *testing.T) {
				c := s.Dial(t)
				c.Send(refused.head)
				if r := c.Want("POST", refused.status); r.Get("Connection") != "close" {
					t.Errorf("Connection: %q, want close: the body may follow or not", r.Get("Connection"))
				}
				c.WantEnd(servertest.Closed)
			})
		}
	})
}
