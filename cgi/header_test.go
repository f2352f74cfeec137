package cgi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

func TestParseHeader(t *testing.T) {
	fields := func(pairs ...string) (f []weighstone.Field) {
		for i := 0; i < len(pairs); i += 2 {
			f = append(f, weighstone.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return f
	}
	for _, c := range []struct {
		in   string
		want cgi.Header
		body string
	}{
		{"Content-type: text/html\r\n\r\nhello", cgi.Header{Type: "text/html", Length: -1}, "hello"},
		{"Content-Type:text/html\n\n", cgi.Header{Type: "text/html", Length: -1}, ""},
		{"Content-Type: a\r\nX: \t b c \t\n\r\n\r\n", cgi.Header{Type: "a", Length: -1, Fields: fields("X", "b c")}, "\r\n"},
		{"status: 404\n\n", cgi.Header{Status: 404, Length: -1}, ""},
		{"STATUS: 599 Own Phrase\ncontent-type: a\n\nb", cgi.Header{Status: 599, Type: "a", Length: -1}, "b"},
		{"Location: /x?y\n\n", cgi.Header{Location: "/x?y", Length: -1}, ""},
		{"Location: http://h/x\nSet-Cookie: a\nSet-Cookie: b\n\n",
			cgi.Header{Location: "http://h/x", Length: -1, Fields: fields("Set-Cookie", "a", "Set-Cookie", "b")}, ""},
		{"Status: 302\nLocation: //h/x\n\n", cgi.Header{Status: 302, Location: "//h/x", Length: -1}, ""},
		{"Content-Type: a\nContent-Length: 3\ncontent-length: 3\n\nabcd", cgi.Header{Type: "a", Length: 3}, "abcd"},
		{"Content-Type: a\nTransfer-Encoding: chunked\nConnection: x\nKeep-Alive: x\nTrailer: x\nUpgrade: x\nTE: x\nDate: x\nServer: x\nX-CGI-Y: x\n\n",
			cgi.Header{Type: "a", Length: -1}, ""},
		{"Content-Type: a\nX: \xc3\xa9\nEmpty:\n\n", cgi.Header{Type: "a", Length: -1, Fields: fields("X", "\xc3\xa9")}, ""},
		{"X: " + strings.Repeat("a", cgi.MaxLine-3) + "\nContent-Type: a\n\n",
			cgi.Header{Type: "a", Length: -1, Fields: fields("X", strings.Repeat("a", cgi.MaxLine-3))}, ""},
	} {
		h, n, err := cgi.ParseHeader([]byte(c.in))
		if err != nil || c.in[n:] != c.body {
			t.Errorf("%.60q: body %q, error %v; want body %q", c.in, c.in[n:], err, c.body)
		}
		if d := cmp.Diff(c.want, h); d != "" {
			t.Errorf("%.60q: %s", c.in, d)
		}
	}
}

func TestParseHeaderWantsMore(t *testing.T) {
	for _, in := range []string{"", "C", "Content-Type: a", "Content-Type: a\r", "Content-Type: a\n", "Content-Type: a\r\n\r", "Status: 404\nX"} {
		if _, n, err := cgi.ParseHeader([]byte(in)); n != 0 || err != nil {
			t.Errorf("%q: %d bytes, error %v; want neither", in, n, err)
		}
	}
}

func TestParseHeaderRefuses(t *testing.T) {
	for in, status := range map[string]bool{
		"\n":                                     false,
		"X: y\n\n":                               false,
		"no colon\n":                             false,
		"<html>\n":                               false,
		"HTTP/1.1 404 Not Found\r\n":             false,
		": x\n":                                  false,
		"A B: x\n":                               false,
		"Content-Type : x\n":                     false,
		"Content-Type: a\n folded\n":             false,
		"Content-Type: a\nContent-Type: a\n":     false,
		"Location: /a\nLocation: /b\n":           false,
		"Status: 200\nStatus: 200\n":             false,
		"Content-Type: a\rb\n":                   false,
		"Content-Type: a\x00\n":                  false,
		"Content-Type:\n\n":                      false,
		"Location: //evil/x\n\n":                 false,
		"Location: x/y\n\n":                      false,
		"Location: a/b:c\n\n":                    false,
		"Content-Type: a\nContent-Length: -1\n":  false,
		"Content-Length: 3\nContent-Length: 4\n": false,
		"Content-Length: 1x\n":                   false,
		"Content-Length: 99999999999999999999\n": false,
		strings.Repeat("a", cgi.MaxLine+1):       false,
		"X: " + strings.Repeat("a", 9000) + "\n": false,
		strings.Repeat("X: y\n", cgi.MaxLines+1): false,
		strings.Repeat("X: "+strings.Repeat("a", 8000)+"\n", 9): false,
		"Status: abc\n":   true,
		"Status: 4\n":     true,
		"Status: 042\n":   true,
		"Status: 100\n":   true,
		"Status: 199\n":   true,
		"Status: 600\n":   true,
		"Status: +20\n":   true,
		"Status: 2000\n":  true,
		"Status: 200OK\n": true,
	} {
		if _, n, err := cgi.ParseHeader([]byte(in)); err == nil || n != 0 || errors.Is(err, cgi.ErrStatus) != status {
			t.Errorf("%.60q: %d bytes, error %v", in, n, err)
		}
	}
}

func TestHeaderLocal(t *testing.T) {
	for in, want := range map[string]bool{
		"Location: /a?b\n\n":                  true,
		"Location: /a\nContent-Length: 0\n\n": true,
		"Location: /a\nStatus: 302\n\n":       false,
		"Location: /a\nContent-Type: x\n\n":   false,
		"Location: /a\nSet-Cookie: x\n\n":     false,
		"Location: http://h/a\n\n":            false,
		"Status: 302\nLocation: //h/a\n\n":    false,
		"Content-Type: x\n\n":                 false,
	} {
		if h, _, err := cgi.ParseHeader([]byte(in)); err != nil || h.Local() != want {
			t.Errorf("%q: %v, error %v; want %v", in, h.Local(), err, want)
		}
	}
}

// FuzzParseHeader: a header parsed in one go is parsed alike byte by byte, and
// nothing that it yields breaks a response.
func FuzzParseHeader(f *testing.F) {
	for _, s := range []string{
		"Content-type: text/html\r\n\r\nx", "Status: 404 Not Found\nContent-Type: a\n\n", "Location: /x\n\n", "Location: //x\n\n",
		"HTTP/1.1 200 OK\r\n\r\n", "Status: 042\n\n", "A: b\n c\n\n", "Content-Length: 5\nContent-Length: 6\n\n", "\n", "X-Y:\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:min(len(b), 1<<10)] // every prefix is parsed
		h, n, err := cgi.ParseHeader(b)
		if err != nil && n != 0 || n > len(b) {
			t.Fatalf("%d bytes taken of %d, error %v", n, len(b), err)
		}
		for i := range b {
			part, m, perr := cgi.ParseHeader(b[:i])
			switch {
			case perr != nil && err == nil:
				t.Fatalf("the first %d bytes are refused (%v), the whole is not", i, perr)
			case m != 0 && (m != n || !cmp.Equal(part, h)):
				t.Fatalf("the first %d bytes give another header than the whole", i)
			case m == 0 && perr == nil && err == nil && n != 0 && i >= n:
				t.Fatalf("%d bytes are not enough, %d were", i, n)
			}
		}
		if n == 0 {
			return
		}
		if h.Status != 0 && (h.Status < 200 || h.Status > 599) || h.Local() && strings.HasPrefix(h.Location, "//") {
			t.Errorf("status %d, location %q", h.Status, h.Location)
		}
		for _, text := range append([]weighstone.Field{{Value: h.Type}, {Value: h.Location}}, h.Fields...) {
			if strings.ContainsAny(text.Name+text.Value, "\r\n\x00") {
				t.Errorf("field %q: %q can split a response", text.Name, text.Value)
			}
		}
	})
}
