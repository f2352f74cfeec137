package netconn_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
)

// TestRepliesAlike sends the same requests to every engine.
func TestRepliesAlike(t *testing.T) {
	const keep = "Connection: keep-alive\r\n"
	cases := []struct {
		name, method, target, version, lines, body string
		status                                     int
	}{
		{"page", "GET", "/page", "1.1", "", "", 200},
		{"page head", "HEAD", "/page", "1.1", "", "", 200},
		{"page 1.0", "GET", "/page", "1.0", "", "", 200},
		{"page 1.0 kept", "GET", "/page", "1.0", keep, "", 200},
		{"page closed", "GET", "/page", "1.1", "Connection: close\r\n", "", 200},
		{"page absolute", "GET", "http://x/page", "1.1", "", "", 200},
		{"page escaped", "GET", "/%70age?q", "1.1", "", "", 200},
		{"page dots", "GET", "/a/../page", "1.1", "", "", 200},
		{"page 1.2", "GET", "/page", "1.2", "", "", 200},
		{"folded", "GET", "/page", "1.1", "X: a\r\n b\r\n", "", 400},
		{"scratch", "GET", "/scratch", "1.1", "", "", 200},
		{"scratch head", "HEAD", "/scratch", "1.1", "", "", 200},
		{"scratch 1.0 kept", "GET", "/scratch", "1.0", keep, "", 200},
		{"empty", "GET", "/empty", "1.1", "", "", 200},
		{"empty head", "HEAD", "/empty", "1.1", "", "", 200},
		{"empty 1.0 kept", "GET", "/empty", "1.0", keep, "", 200},
		{"extra", "GET", "/extra", "1.1", "", "", 302},
		{"unchanged", "GET", "/unchanged", "1.1", "", "", 304},
		{"unchanged 1.0 kept", "GET", "/unchanged", "1.0", keep, "", 304},
		{"file", "GET", "/file", "1.1", "", "", 200},
		{"file head", "HEAD", "/file", "1.1", "", "", 200},
		{"file 1.0", "GET", "/file", "1.0", "", "", 200},
		{"stream", "GET", "/stream", "1.1", "", "", 200},
		{"stream head", "HEAD", "/stream", "1.1", "", "", 200},
		{"stream 1.0", "GET", "/stream", "1.0", "", "", 200},
		{"stream 1.0 kept", "GET", "/stream", "1.0", keep, "", 200},
		{"sized", "GET", "/sized", "1.1", "", "", 200},
		{"sized 1.0 kept", "GET", "/sized", "1.0", keep, "", 200},
		{"options", "OPTIONS", "/page", "1.1", "", "", 204},
		{"options all", "OPTIONS", "*", "1.1", "", "", 204},
		{"missing", "GET", "/missing", "1.1", "", "", 404},
		{"climbing", "GET", "/../page", "1.1", "", "", 400},
		{"method", "POST", "/page", "1.1", "Content-Length: 0\r\n", "", 405},
		{"unknown method", "BREW", "/page", "1.1", "", "", 501},
		{"connect", "CONNECT", "test:80", "1.1", "", "", 501},
		{"panic", "GET", "/panic", "1.1", "", "", 500},
		{"mirror", "POST", "/mirror", "1.1", "Content-Length: 5\r\n", "hello", 200},
		{"mirror chunked", "POST", "/mirror", "1.1", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", 200},
		{"mirror 1.0", "POST", "/mirror", "1.0", "Content-Length: 5\r\n", "hello", 200},
		{"mirror nothing", "POST", "/mirror", "1.1", "", "", 200},
		{"buffered", "POST", "/buffered", "1.1", "Content-Length: 5\r\n", "hello", 200},
		{"buffered chunked", "POST", "/buffered", "1.1", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", 200},
		{"dropped", "POST", "/empty", "1.1", "Content-Length: 5\r\n", "hello", 200},
		{"dropped chunked", "POST", "/empty", "1.1", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", 200},
		{"dropped at 404", "POST", "/missing", "1.1", "Content-Length: 5\r\n", "hello", 404},
		{"long for buffer", "POST", "/buffered", "1.1", "Content-Length: 70000\r\n", "", 413},
		{"long for site", "POST", "/mirror", "1.1", "Content-Length: 2000000\r\n", "", 413},
		{"two framings", "POST", "/mirror", "1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", 400},
		{"chunks in 1.0", "POST", "/mirror", "1.0", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", 400},
		{"bad chunk", "POST", "/mirror", "1.1", "Transfer-Encoding: chunked\r\n", "x\r\n", 400},
		{"space before colon", "GET", "/page", "1.1", "X : y\r\n", "", 400},
		{"two hosts", "GET", "/page", "1.1", "Host: b\r\n", "", 400},
		{"version", "GET", "/page", "2.0", "", "", 505},
	}
	site := newSite(t)
	want := map[string]string{}
	for _, e := range engines {
		s := run(t, e.new(weighstone.Options{}), site.Site)
		for _, tc := range cases {
			t.Run(e.name+"/"+tc.name, func(t *testing.T) {
				c := s.client(t)
				c.send(t, request(tc.method, tc.target, tc.version, tc.lines)+tc.body)
				r := c.reply(t, tc.method)
				if r.StatusCode != tc.status || r.err != nil {
					t.Errorf("status %d, want %d; %v", r.StatusCode, tc.status, r.err)
				}
				if _, there := want[tc.name]; !there {
					want[tc.name] = r.meaning()
				}
				if diff := cmp.Diff(want[tc.name], r.meaning()); diff != "" {
					t.Errorf("not as on %s (-):\n%s", engines[0].name, diff)
				}
				if tc.version == "1.0" && (r.Header.Get("Connection") == "keep-alive") == r.Close {
					t.Errorf("Connection: %q, to be closed %v", r.Header.Get("Connection"), r.Close)
				}
				if r.Close {
					_ = c.CloseWrite()
					c.ended(t)
				} else if again := c.get(t, "/page"); again.StatusCode != 200 {
					t.Errorf("next reply: %s", again.Status)
				}
			})
		}
	}
}

// TestBrokenReplies sees that what ends early does not look complete, and that
// each stream is closed once.
func TestBrokenReplies(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		s := run(t, newServer(weighstone.Options{}), site.Site)
		for _, target := range []string{"/broken", "/short", "/short-file"} {
			for _, version := range []string{"1.0", "1.1"} {
				c := s.client(t)
				c.send(t, request("GET", target, version, ""))
				b, err := io.ReadAll(c.r)
				_ = c.Close()
				complete := bytes.HasSuffix(b, []byte("\r\n0\r\n\r\n")) ||
					bytes.Contains(b, site.page) && !bytes.Contains(b, []byte("Content-Length")) && version == "1.0"
				if err == nil && complete {
					t.Errorf("%s to HTTP/%s looks complete: %q", target, version, b)
				}
			}
		}
		c := s.client(t)
		c.get(t, "/stream")
		c.get(t, "/sized")
		c.send(t, request("HEAD", "/stream", "1.1", ""))
		c.reply(t, "HEAD")
		_ = c.Close()
		s.stop(t)
		if n := len(site.closed); n != 7 {
			t.Errorf("7 streams were closed %d times", n)
		}
	})
}

// TestHalfClosed sends a request, ends the stream and reads.
func TestHalfClosed(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{}), newSite(t).Site)
		for _, target := range []string{"/page", "/file", "/stream"} {
			c := s.client(t)
			c.send(t, strings.Repeat(request("GET", target, "1.1", ""), 3))
			_ = c.CloseWrite()
			for range 3 {
				if r := c.reply(t, "GET"); r.StatusCode != 200 || r.err != nil {
					t.Errorf("%s: %s, %v", target, r.Status, r.err)
				}
			}
			c.ended(t)
		}
	})
}

// TestExpect sees a 100 sent, or a refusal without one.
func TestExpect(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{}), newSite(t).Site)
		const expect = "Expect: 100-continue\r\n"
		c := s.client(t)
		for _, target := range []string{"/mirror", "/buffered", "/mirror"} {
			c.send(t, request("POST", target, "1.1", expect+"Content-Length: 5\r\n"))
			if r := c.reply(t, "POST"); r.StatusCode != 100 {
				t.Fatalf("%s, want 100", r.Status)
			}
			c.send(t, "hello")
			if r := c.reply(t, "POST"); r.StatusCode != 200 || string(r.body) != "hello" {
				t.Errorf("%s %q", r.Status, r.body)
			}
		}
		for _, tc := range []struct {
			target, lines string
			status        int
		}{
			{"/page", expect + "Content-Length: 5\r\n", 405},
			{"/missing", expect + "Content-Length: 5\r\n", 404},
			{"/mirror", expect + "Content-Length: 2000000\r\n", 413},
			{"/mirror", "Expect: x\r\nContent-Length: 5\r\n", 417},
		} {
			c := s.client(t)
			c.send(t, request("POST", tc.target, "1.1", tc.lines))
			r := c.reply(t, "POST")
			if r.StatusCode != tc.status || !r.Close || len(r.body) == 0 {
				t.Errorf("%s: %d, close %v, %q, want %d", tc.target, r.StatusCode, r.Close, r.body, tc.status)
			}
			if tc.status == 405 && r.Header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
			c.ended(t)
		}
	})
}

// TestRefusalSurvives sends much that nobody reads, and still gets the reply.
func TestRefusalSurvives(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{}), newSite(t).Site)
		body := bytes.Repeat([]byte("z"), 10<<20)
		for target, status := range map[string]int{"/mirror": 413, "/page": 405, "/missing": 404} {
			c := s.client(t)
			c.send(t, request("POST", target, "1.1", "Content-Length: 10485760\r\n"))
			if _, err := c.Write(body); err != nil {
				t.Errorf("%s: send body: %v", target, err)
			}
			if r := c.reply(t, "POST"); r.StatusCode != status || r.err != nil {
				t.Errorf("%s: %s, %v, want %d", target, r.Status, r.err, status)
			}
			_ = c.CloseWrite()
			c.ended(t)
		}
	})
}

// TestChunkedTooLarge sends more than the site takes, without saying so before.
func TestChunkedTooLarge(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{}), newSite(t).Site)
		for target, size := range map[string]int{"/mirror": 1<<20 + 1, "/buffered": 64<<10 + 1, "/empty": 64<<10 + 1} {
			c := s.client(t)
			c.send(t, request("POST", target, "1.1", "Transfer-Encoding: chunked\r\n"))
			go func() {
				for range size / 1024 {
					_, _ = io.WriteString(c.TCPConn, "400\r\n"+strings.Repeat("c", 1024)+"\r\n")
				}
				_, _ = io.WriteString(c.TCPConn, "1\r\nc\r\n0\r\n\r\n")
			}()
			if r := c.reply(t, "POST"); r.StatusCode != 413 {
				t.Errorf("%s: %s", target, r.Status)
			}
		}
	})
}

// TestGone sees a waiting handler told that its client has left.
func TestGone(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		s := run(t, newServer(weighstone.Options{}), site.Site)
		stayed, left := s.client(t), s.client(t)
		stayed.send(t, request("GET", "/wait", "1.1", ""))
		left.send(t, request("GET", "/wait", "1.1", ""))
		<-site.entered
		<-site.entered
		_ = left.Close()
		select {
		case <-site.gone:
		case <-time.After(20 * time.Second):
			t.Error("the handler was not told")
		}
		close(site.leave)
		if r := stayed.reply(t, "GET"); r.StatusCode != 200 {
			t.Error(r.Status)
		}
	})
}
