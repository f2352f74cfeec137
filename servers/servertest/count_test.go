package servertest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestMalformedCountedOnce: a request whose head is refused is one request, one
// response and one line in the access log, first on a connection or not.
func TestMalformedCountedOnce(t *testing.T) {
	cases := []struct {
		name, send string
		status     int
	}{
		{"two spaces", "GET  /x HTTP/1.1\r\n" + host + "\r\n", 400},
		{"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"no version", "GET /\r\n\r\n", 400},
		{"no colon", get("/", "nothing"), 400},
		{"two lengths", get("/", "Content-Length: 1", "Content-Length: 2"), 400},
		{"a long request line", get("/" + strings.Repeat("a", 20<<10)), 414},
		{"a long header line", get("/", "X: "+strings.Repeat("a", 20<<10)), 431},
		{"HTTP/2.0", "GET / HTTP/2.0\r\n" + host + "\r\n", 505},
		{"an unknown coding", request("POST", "/test/mirror", "Transfer-Encoding: x"), 501},
		{"asterisk for GET", get("*"), 400},
		{"asterisk for CONNECT", request("CONNECT", "*"), 501},
		{"a relative target", get("100.html"), 400},
	}
	onEach(t, func(t *testing.T, e servertest.Engine) {
		at := place{Kind: bodyPlace, Root: newRoot(t), Lines: filepath.Join(t.TempDir(), "lines")}
		s, server := suiteAt(t, e, at, weighstone.Options{})
		var want weighstone.Stats
		for _, c := range cases {
			for _, behind := range []bool{false, true} {
				k := s.Dial(t)
				if behind {
					k.Send(servertest.Get("/100.html") + c.send)
					k.Want("GET", 200)
					want.Responses[2]++
					want.Requests++
				} else {
					k.Send(c.send)
				}
				if !behind || !e.Alone {
					k.Want("GET", c.status)
					want.Responses[c.status/100]++
					want.Requests++
				}
				k.Close()
				awaitConns(t, server, 0)
				got, lines := server.Stats(), at.lines(t)
				if got.Requests != want.Requests || got.Responses != want.Responses || lines != want.Requests {
					t.Fatalf("after %q (behind another: %v): %d requests, responses %v, %d lines; want %d, %v",
						c.name, behind, got.Requests, got.Responses, lines, want.Requests, want.Responses)
				}
			}
		}
	})
}
