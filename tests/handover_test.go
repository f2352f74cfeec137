package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// handing are the variants whose processes become another program for what they
// lack.
var handing = []string{"fork", "inetd", "prefork"}

// TestHandover: a process that becomes another program in the middle of a
// connection loses nothing of it: neither the requests behind, nor a count or a
// line of the log.
func TestHandover(t *testing.T) {
	on(t, handing, func(t *testing.T, variant string) {
		log := filepath.Join(t.TempDir(), "access")
		s := serve(t, variant, "--access-log", log, "--requests-per-conn", "7")
		page := fetch(t, s, "GET", "/100.html")
		hello := fetch(t, s, "GET", "/api/hello")
		before := status(t, s.addr)
		body := strings.Repeat("a body that comes in pieces ", 10_000)
		c, err := dial(s.addr, false)
		if err != nil {
			t.Fatal(err)
		}
		send := func(text string) {
			t.Helper()
			if err := c.send(text); err != nil {
				t.Fatal(err)
			}
		}
		receive := func(want string, keep bool) {
			t.Helper()
			got, err := c.receive([]byte(want))
			if err != nil {
				t.Fatal(err)
			}
			if got != keep {
				t.Errorf("the connection is kept: %v, want %v", got, keep)
			}
		}
		// In one piece: a request before, the one that is handed over, and two behind.
		send(get("/100.html") + get("/db/100.html") + get("/lua/hello") + get("/100.html"))
		receive(page, true)
		receive(page, true)
		receive(hello, true)
		receive(page, true)
		// And the connection goes on.
		head := "POST /lua/mirror HTTP/1.1\r\nHost: a\r\nContent-Length: 280000\r\n\r\n"
		send(head + body[:10])
		send(body[10:])
		receive(body, true)
		send("GET /%77asm/hel")
		send("lo HTTP/1.1\r\nHost: a\r\n\r\n" + get("/100.html"))
		receive(hello, true)
		receive(page, false) // the seventh
		c.close()
		after := status(t, s.addr)
		for key, more := range map[string]float64{"accepted": 2, "requests": 8} { // the status itself too
			if n := after[key].(float64) - before[key].(float64); n != more {
				t.Errorf("%s has grown by %v, want %v", key, n, more)
			}
		}
		s.stop()
		lines, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range map[string]int{
			`"GET /100.html HTTP/1.1" 200 100`: 4, `"GET /db/100.html HTTP/1.1" 200 100`: 1, `"GET /lua/hello HTTP/1.1" 200 77`: 1,
			`"POST /lua/mirror HTTP/1.1" 200 280000`: 1, `"GET /%77asm/hello HTTP/1.1" 200 77`: 1,
		} {
			if n := strings.Count(string(lines), what); n != want {
				t.Errorf("%d lines of %s in the access log, want %d", n, what, want)
			}
		}
	})
}
