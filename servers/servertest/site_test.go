package servertest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// maxBody is the limit of the test site for a request's body, in bytes.
const maxBody = 1 << 20

// modified is when every file of the root was last changed.
var modified = time.Date(2024, time.February, 29, 12, 30, 45, 0, time.UTC)

const lastModified = "Thu, 29 Feb 2024 12:30:45 GMT"

// pattern is n bytes of the alphabet, again and again.
func pattern(n int) []byte {
	return bytes.Repeat([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), n/26+1)[:n]
}

// newRoot writes the files that the cases ask for.
func newRoot(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"index.html":     append([]byte("<!doctype html>"), pattern(4767)...),
		"100.html":       pattern(100),
		"20k.html":       pattern(20 << 10), // from memory, too large to be copied behind its head
		"200k.bin":       pattern(200 << 10),
		"4m.bin":         pattern(4 << 20),
		"empty.txt":      nil,
		"sub/index.html": pattern(321),
		"sub/a b.txt":    pattern(10),
		"bare/file.txt":  pattern(10),
		"caf\xc3\xa9":    pattern(11),
		"100%.txt":       pattern(12),
		".hidden":        pattern(13),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "outside")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bodyRoutes have a route for each kind of body, of requests and of replies.
func bodyRoutes() []weighstone.Route {
	get := weighstone.GET | weighstone.HEAD
	page := weighstone.NewPage("text/html", time.Time{}, pattern(77))
	send := func(x *weighstone.Exchange) { x.SendPage(page) }
	return []weighstone.Route{
		{Pattern: "/test/page", Methods: get, Handler: weighstone.HandlerFunc(send)},
		{Pattern: "/test/nothing", Methods: get | weighstone.POST, Handler: weighstone.HandlerFunc(func(*weighstone.Exchange) {})},
		{Pattern: "/test/204", Methods: get, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.Out.Status = 204 })},
		{Pattern: "/test/panic", Methods: get, Handler: weighstone.HandlerFunc(func(*weighstone.Exchange) { panic("as the test wants it") })},
		{Pattern: "/test/mirror", Methods: weighstone.POST | weighstone.PUT, Body: weighstone.BodyStreamed, Handler: weighstone.HandlerFunc(mirror)},
		{Pattern: "/test/buffered", Methods: weighstone.POST, Body: weighstone.BodyBuffered, Handler: weighstone.HandlerFunc(mirror)},
		{Pattern: "/test/unread", Methods: weighstone.POST, Body: weighstone.BodyStreamed, Handler: weighstone.HandlerFunc(send)},
		{Pattern: "/test/stream", Methods: get, Waits: true, Handler: stream(50000, -1, io.EOF)},
		{Pattern: "/test/endless", Methods: get, Waits: true, Handler: stream(64<<20, -1, io.EOF)},
		{Pattern: "/test/measured", Methods: get, Waits: true, Handler: stream(50000, 50000, io.EOF)},
		{Pattern: "/test/broken", Methods: get, Waits: true, Handler: stream(50000, -1, errors.New("as the test wants it"))},
		{Pattern: "/test/short", Methods: get, Waits: true, Handler: stream(50000, 60000, io.EOF)},
		{Pattern: "/test/long", Methods: get, Waits: true, Handler: stream(50000, 40000, io.EOF)},
	}
}

// mirror answers with the body.
func mirror(x *weighstone.Exchange) {
	if x.In.Body != nil {
		b, err := io.ReadAll(x.In.Body)
		if err != nil {
			status := 400
			var e interface{ Status() int }
			if errors.As(err, &e) {
				status = e.Status()
			}
			x.Fail(status)
			x.Out.Close = true
			return
		}
		x.Scratch = append(x.Scratch[:0], b...)
	}
	x.SendScratch("application/octet-stream")
}

// stream answers with a stream that has size bytes, is announced with another
// number of them, and ends with err.
func stream(size int, announced int64, err error) weighstone.HandlerFunc {
	return func(x *weighstone.Exchange) {
		x.Out.Type = "application/octet-stream"
		x.SendStream(&source{b: pattern(size), err: err}, announced)
	}
}

// A source yields its bytes in pieces of odd sizes.
type source struct {
	b   []byte
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, s.err
	}
	n := copy(p, s.b[:min(len(s.b), 777)])
	s.b = s.b[n:]
	return n, nil
}

func (s *source) Close() error { return nil }

// pageRoute answers from memory, for servers that have no descriptor to spare.
func pageRoute() weighstone.Route {
	page := weighstone.NewPage("text/plain", time.Time{}, pattern(100))
	return weighstone.Route{Pattern: "/100.html", Methods: weighstone.GET,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) })}
}

// goneRoute tells 'e' when a request has come and 'l' when its client has left,
// or 's' when it has stayed.
func (p *place) goneRoute() weighstone.Route {
	return weighstone.Route{Pattern: "/wait", Methods: weighstone.GET, Waits: true,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			p.tell('e')
			select {
			case <-x.In.Gone:
				p.tell('l')
			case <-time.After(10 * time.Second):
				p.tell('s')
			}
		}),
	}
}
