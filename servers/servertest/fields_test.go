package servertest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// known are fields that a library may keep apart from the others.
var known = []string{"Host", "Content-Type", "User-Agent", "Content-Length", "Connection", "Transfer-Encoding", "Trailer", "Cookie", "Expect", "X-Other"}

// listFields answers with what Get says of each known field, and the names
// of the lines that Each hands over.
func listFields(x *weighstone.Exchange) {
	for _, name := range known {
		if v := x.In.Fields.Get(name); v != nil {
			x.Scratch = fmt.Appendf(x.Scratch, "%s=%s\n", name, v)
		}
	}
	x.In.Fields.Each((*listSink)(x))
	x.SendScratch("text/plain")
}

// fieldsRoute answers with the fields of its request.
func fieldsRoute() weighstone.Route {
	return weighstone.Route{
		Pattern: "/fields", Methods: weighstone.GET | weighstone.POST, Body: weighstone.BodyBuffered,
		Handler: weighstone.HandlerFunc(listFields),
	}
}

// remotePort is what differs where each request has a connection of its own.
var remotePort = regexp.MustCompile(`(?m)^REMOTE_PORT=\d+$`)

func ofAnyPort(b []byte) string { return string(remotePort.ReplaceAll(b, []byte("REMOTE_PORT"))) }

type listSink weighstone.Exchange

func (s *listSink) Field(name, _ []byte) { s.Scratch = fmt.Appendf(s.Scratch, "each %s\n", name) }

// TestNothingCarriedOver: what a handler is told of a request has nothing of
// the requests before it. The first answers are those of a fresh server.
func TestNothingCarriedOver(t *testing.T) {
	lines := []string{"Content-Type: a/b", "User-Agent: u", "Cookie: a=b", "Cookie: c", "Connection: keep-alive", "X-Other: x"}
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s := start(t, e, place{Kind: fieldPlace}, weighstone.Options{})
		c := s.Dial(t)
		for _, path := range []string{"/api/echo", "/fields"} {
			fresh := ofAnyPort(c.Get(path, 200).Body)
			if strings.Contains(fresh, "CONTENT_TYPE") || strings.Contains(fresh, "Content-Type") {
				t.Errorf("fresh server, %s: %q", path, fresh)
			}
			for _, body := range []string{"Content-Length: 3\r\n\r\na=b", "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\na=b\r\n0\r\nX-T: t\r\n\r\n"} {
				head := "POST " + path + " HTTP/1.1\r\n" + host + headers(lines)
				c.Send(head + body)
				if r := c.Want("POST", 200); !strings.Contains(string(r.Body), "a/b") {
					t.Errorf("POST %s: %q", path, r.Body)
				}
				if got := ofAnyPort(c.Get(path, 200).Body); got != fresh {
					t.Errorf("%s behind a POST:\n%s\nwant\n%s", path, got, fresh)
				}
			}
		}
		c.Send("GET /fields HTTP/1.0\r\n\r\n")
		if r := c.Want("GET", 200); len(r.Body) > 0 {
			t.Errorf("a request without lines has %q", r.Body)
		}
	})
}
