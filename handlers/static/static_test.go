package static

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// lines are the header lines of a test request, in order.
type lines []weighstone.Field

func (l lines) Get(name string) []byte {
	for _, f := range l {
		if strings.EqualFold(f.Name, name) {
			return []byte(f.Value)
		}
	}
	return nil
}

func (l lines) Each(sink weighstone.FieldSink) {
	for _, f := range l {
		sink.Field([]byte(f.Name), []byte(f.Value))
	}
}

// parse makes lines of "Name: value" strings.
func parse(text ...string) lines {
	var l lines
	for _, s := range text {
		name, value, _ := strings.Cut(s, ": ")
		l = append(l, weighstone.Field{Name: name, Value: value})
	}
	return l
}

// A bench is a handler behind a site, over a directory of its own.
type bench struct {
	t    *testing.T
	dir  string
	h    *Handler
	site *weighstone.Site
	time time.Duration // what the handler's clock shows
}

var published = time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)

const publishedField = "Sat, 03 Feb 2001 04:05:06 GMT"

// newBench serves dir/0, dir/1 and so on, of which there are roots.
func newBench(t *testing.T, roots int, opts Options) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for i := range roots {
		root := filepath.Join(b.dir, string(rune('0'+i)))
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		opts.Roots = append(opts.Roots, root)
	}
	var err error
	if b.h, err = New(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.h.Close() })
	b.h.now = func() time.Duration { return b.time }
	if b.site, err = weighstone.NewSite(0, weighstone.Route{Pattern: "/", Methods: weighstone.GET | weighstone.HEAD, Handler: b.h}); err != nil {
		t.Fatal(err)
	}
	return b
}

// write puts a file below dir by rename, with the published time.
func (b *bench) write(path, text string) {
	b.t.Helper()
	full := filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	temp := full + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chtimes(temp, published, published); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(temp, full); err != nil {
		b.t.Fatal(err)
	}
}

// A reply is what an engine would send.
type reply struct {
	status int
	kind   weighstone.BodyKind
	body   string
	fields http.Header
}

// ask answers a request as an engine does, closing what is to be closed.
func (b *bench) ask(method, target string, fields ...string) reply {
	b.t.Helper()
	x := &weighstone.Exchange{In: weighstone.Request{Method: []byte(method), Target: []byte(target), Minor: 1, Fields: parse(fields...)}}
	if r := b.site.Find(x); r != nil {
		r.Handler.Serve(x)
	}
	return finish(b.t, x)
}

func finish(t *testing.T, x *weighstone.Exchange) reply {
	t.Helper()
	out := &x.Out
	r := reply{status: out.Code(), kind: out.Body.Kind, fields: http.Header{}}
	for _, f := range out.Extra {
		r.fields.Add(f.Name, f.Value)
	}
	switch body := &out.Body; body.Kind {
	case weighstone.BodyPage:
		r.body = string(body.Page.Bytes)
		for _, f := range body.Page.Fields {
			r.fields.Add(f.Name, f.Value)
		}
	case weighstone.BodyScratch:
		r.body = string(x.Scratch)
	case weighstone.BodyFile:
		b, err := io.ReadAll(io.NewSectionReader(body.File, body.Offset, body.Length))
		if err != nil {
			t.Error(err)
		}
		r.body = string(b)
	}
	if out.Type != "" {
		r.fields.Add("Content-Type", out.Type)
	}
	if body := &out.Body; body.Kind != weighstone.BodyNone && int64(len(r.body)) != body.Length {
		t.Errorf("length %d, %d bytes of body", body.Length, len(r.body))
	}
	if err := out.Body.Close(); err != nil {
		t.Error(err)
	}
	return r
}

const hundred = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

// pair returns a bench with /small.html, served from memory, and /large.html,
// from disk, of the same hundred bytes.
func pair(t *testing.T) *bench {
	b := newBench(t, 1, Options{MemoryLimit: 100})
	b.write("0/small.html", hundred)
	b.write("0/large.html", hundred+"\n")
	return b
}

func TestWholeFile(t *testing.T) {
	b := pair(t)
	for _, c := range []struct {
		path string
		kind weighstone.BodyKind
		body string
	}{
		{"/small.html", weighstone.BodyPage, hundred},
		{"/large.html", weighstone.BodyFile, hundred + "\n"},
	} {
		for _, method := range []string{"GET", "HEAD", "GET"} {
			r := b.ask(method, c.path+"?a=b")
			if r.status != 200 || r.kind != c.kind || r.body != c.body {
				t.Errorf("%s %s: %d, kind %d, %q", method, c.path, r.status, r.kind, r.body)
			}
			for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Last-Modified": publishedField, "Accept-Ranges": "bytes"} {
				if got := r.fields[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s %s: %s is %q, want %q", method, c.path, name, got, want)
				}
			}
			if tag := r.fields["Etag"]; len(tag) != 1 || tag[0][0] != '"' {
				t.Errorf("%s %s: ETag %q", method, c.path, tag)
			}
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, limit := range []int64{0, -1} {
		b := newBench(t, 1, Options{MemoryLimit: limit})
		b.write("0/empty", "")
		for _, fields := range [][]string{nil, {"Range: bytes=0-"}, {"Range: bytes=-5"}} {
			if r := b.ask("GET", "/empty", fields...); r.status != 200 || r.body != "" || r.fields.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("%q: %d %v", fields, r.status, r.fields)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	b := newBench(t, 1, Options{MemoryLimit: 10})
	for path, text := range map[string]string{
		"0/index.html": "top", "0/sub/index.html": "sub", "0/noindex/secret.txt": "s", "0/100.html": "hundred",
		"0/much here+.txt": "space", "0/grüße-雪.txt": "utf-8", "0/50%off.txt": "percent",
		"0/.hidden": "h", "0/.git/config": "h", "0/sub/.htpasswd": "h", "0/odd/index.html/x": "x", "canary": "out",
		"0/big/index.html": "more than ten bytes", `0/a\b`: "back",
	} {
		b.write(path, text)
	}
	for from, to := range map[string]string{
		"0/link-out": "../canary", "0/link-abs": filepath.Join(b.dir, "canary"), "0/link-dir": "..", "0/link-in": "sub/index.html",
		"0/loop": "loop", "0/dangling": "nowhere", "0/link-pipe": "pipe",
	} {
		if err := os.Symlink(to, filepath.Join(b.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(b.dir, "0/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		status int
		body   string // for 301 the location
	}{
		{"/", 200, "top"}, {"/index.html", 200, "top"}, {"/sub/", 200, "sub"}, {"/big/", 200, "more than ten bytes"},
		{"/100.html", 200, "hundred"}, {"/%31%30%30.html", 200, "hundred"}, {"/./sub/.././100.html", 200, "hundred"}, {"//100.html", 200, "hundred"},
		{"/much%20here+.txt", 200, "space"}, {"/much%20here%2b.txt", 200, "space"}, {"/gr%C3%BC%c3%9fe-%E9%9B%AA.txt", 200, "utf-8"},
		{"/50%25off.txt", 200, "percent"}, {"/a%5cb", 200, "back"}, {"/link-in", 200, "sub"},
		{"/sub", 301, "/sub/"}, {"/sub?q=1&r=%2f", 301, "/sub/?q=1&r=%2f"}, {"/noindex", 301, "/noindex/"}, {"/sub?", 301, "/sub/"},
		{"/noindex/", 404, ""}, {"/odd/", 404, ""}, {"/100.html/", 404, ""}, {"/100.html/x", 404, ""}, {"/100.html/../../canary", 400, ""},
		{"/missing", 404, ""}, {"/missing/", 404, ""}, {"/" + strings.Repeat("n", 300), 404, ""}, {"/" + strings.Repeat("d/", 1500), 404, ""},
		{"/.hidden", 404, ""}, {"/.git/config", 404, ""}, {"/.git/", 404, ""}, {"/.git", 404, ""}, {"/sub/.htpasswd", 404, ""}, {"/%2egit/config", 404, ""},
		{"/link-out", 404, ""}, {"/link-abs", 404, ""}, {"/link-dir/canary", 404, ""}, {"/link-dir", 404, ""}, {"/loop", 404, ""}, {"/dangling", 404, ""},
		{"/pipe", 404, ""}, {"/link-pipe", 404, ""}, {"/pipe/", 404, ""},
		{"/../canary", 400, ""}, {"/%2e%2e/canary", 400, ""}, {"/..%2fcanary", 400, ""}, {"/sub/../../canary", 400, ""},
		{"/..%5ccanary", 404, ""}, {"/%252e%252e/canary", 404, ""}, {"/%c0%ae%c0%ae/canary", 404, ""}, {"/100.html%00", 400, ""},
	} {
		for range 2 { // the second from the cache, where it applies
			r := b.ask("GET", c.target)
			if r.status != c.status {
				t.Errorf("%s: status %d, want %d", c.target, r.status, c.status)
			}
			if got := r.fields.Get("Location"); c.status == 301 && got != c.body {
				t.Errorf("%s: Location %q, want %q", c.target, got, c.body)
			}
			if c.status == 200 && r.body != c.body {
				t.Errorf("%s: %q, want %q", c.target, r.body, c.body)
			}
			if strings.Contains(r.body, "out") || strings.Contains(r.body, "secret") {
				t.Errorf("%s: leaks %q", c.target, r.body)
			}
		}
	}
}

func TestRedirectEncodes(t *testing.T) {
	b := newBench(t, 1, Options{})
	b.write("0/é ?#%;x/index.html", "x")
	r := b.ask("GET", "/%c3%a9%20%3f%23%25;x")
	if got, want := r.fields.Get("Location"), "/%C3%A9%20%3F%23%25;x/"; r.status != 301 || got != want {
		t.Errorf("%d, Location %q, want %q", r.status, got, want)
	}
	if again := b.ask("GET", r.fields.Get("Location")); again.status != 200 || again.body != "x" {
		t.Errorf("the location answers %d %q", again.status, again.body)
	}
}

func TestRootsInOrder(t *testing.T) {
	b := newBench(t, 2, Options{})
	b.write("0/own.html", "own")
	b.write("0/both.html", "first")
	b.write("0/sub/own.html", "own")
	b.write("1/both.html", "second")
	b.write("1/sub/index.html", "index of the second")
	b.write("1/last.html", "last")
	for target, want := range map[string]string{
		"/own.html": "own", "/both.html": "first", "/sub/own.html": "own", "/sub/": "index of the second", "/last.html": "last",
	} {
		if r := b.ask("GET", target); r.status != 200 || r.body != want {
			t.Errorf("%s: %d %q, want %q", target, r.status, r.body, want)
		}
	}
	b.write("0/last.html", "shadow") // seen when the one in memory is checked
	if r := b.ask("GET", "/last.html"); r.body != "last" {
		t.Errorf("within the second: %q", r.body)
	}
	b.time += checkEvery
	if r := b.ask("GET", "/last.html"); r.body != "shadow" {
		t.Errorf("after it: %q", r.body)
	}
}

func TestReplacedByRename(t *testing.T) {
	b := pair(t)
	b.ask("GET", "/small.html")
	for _, path := range []string{"/small.html", "/large.html"} {
		before := b.ask("GET", path)
		b.write("0"+path, strings.ToUpper("x"+before.body[1:])) // as long, as old, another inode
		b.time += checkEvery
		after := b.ask("GET", path)
		if after.status != 200 || after.body[0] != 'X' || after.fields.Get("Etag") == before.fields.Get("Etag") {
			t.Errorf("%s: %q with ETag %s, before %s", path, after.body, after.fields.Get("Etag"), before.fields.Get("Etag"))
		}
		if r := b.ask("GET", path, "If-None-Match: "+before.fields.Get("Etag")); r.status != 200 {
			t.Errorf("%s: the old ETag is answered %d", path, r.status)
		}
	}
}

// TestWrittenInPlace: the same length and times, within one tick of the clock
// of the file system, is found out all the same.
func TestWrittenInPlace(t *testing.T) {
	b := pair(t)
	path := filepath.Join(b.dir, "0/small.html")
	b.ask("GET", "/small.html")
	for i := range 20 {
		text := strings.Repeat(string(rune('a'+i)), 100)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := os.Chtimes(path, published, published); err != nil {
			t.Fatal(err)
		}
		b.time += checkEvery
		if r := b.ask("GET", "/small.html"); r.body != text {
			t.Fatalf("version %d: got %q", i, r.body[:1])
		}
	}
}

func TestRemoved(t *testing.T) {
	b := pair(t)
	b.ask("GET", "/small.html")
	if err := os.Remove(filepath.Join(b.dir, "0/small.html")); err != nil {
		t.Fatal(err)
	}
	if r := b.ask("GET", "/small.html"); r.status != 200 {
		t.Errorf("within the second: %d", r.status)
	}
	b.time += checkEvery
	if r := b.ask("GET", "/small.html"); r.status != 404 {
		t.Errorf("after it: %d", r.status)
	}
	if b.h.cache.used != 0 {
		t.Errorf("%d bytes are still counted", b.h.cache.used)
	}
}

// TestReplacedWhileServed: no reply ever mixes two versions, in memory or on
// disk.
func TestReplacedWhileServed(t *testing.T) {
	b := newBench(t, 1, Options{MemoryLimit: 3000})
	var ticks atomic.Int64
	b.h.now = func() time.Duration { return time.Duration(ticks.Add(int64(checkEvery))) } // check at every turn
	version := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1000+2*(i%26)*100) }
	b.write("0/f", version(0))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := b.ask("GET", "/f")
				if r.status != 200 || len(r.body) == 0 || r.body != version(int(r.body[0]-'a')) {
					t.Errorf("%d, %d bytes", r.status, len(r.body))
					return
				}
			}
		})
	}
	for i := range 200 {
		b.write("0/f", version(i))
	}
	close(stop)
	wg.Wait()
}

func TestMemoryIsBounded(t *testing.T) {
	b := newBench(t, 1, Options{MemoryTotal: 4 * (entryOverhead + 1000)})
	for i := range 8 {
		name := "/" + string(rune('a'+i))
		b.write("0"+name, strings.Repeat("x", 990))
		if r := b.ask("GET", name); r.status != 200 || len(r.body) != 990 {
			t.Errorf("%s: %d, %d bytes", name, r.status, len(r.body))
		}
		if r := b.ask("GET", name); (r.kind == weighstone.BodyPage) != (i < 4) {
			t.Errorf("%s: kind %d", name, r.kind)
		}
	}
	for i := range 1000 {
		b.ask("GET", "/missing"+string(rune('a'+i%26)))
	}
	entries := 0
	for i := range b.h.cache.shard {
		entries += len(*b.h.cache.shard[i].Load())
	}
	if entries != 4 || b.h.cache.used > b.h.cache.budget {
		t.Errorf("%d entries, %d of %d bytes", entries, b.h.cache.used, b.h.cache.budget)
	}
}

func TestUnreadable(t *testing.T) {
	for errno, want := range map[syscall.Errno]verdict{
		syscall.ENOENT: absent, syscall.ENAMETOOLONG: absent, syscall.EACCES: 403, syscall.EMFILE: 503, syscall.EIO: 500, syscall.ENXIO: 404,
	} {
		if got := verdictOn(&os.PathError{Op: "openat", Path: "x", Err: errno}); got != want {
			t.Errorf("%v: %d, want %d", errno, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, roots := range [][]string{nil, {file}, {t.TempDir(), file + "-none"}} {
		if h, err := New(Options{Roots: roots}); err == nil {
			h.Close()
			t.Errorf("%q is served", roots)
		}
	}
}

func TestDescriptorsComeBack(t *testing.T) {
	b := pair(t)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	tag := b.ask("GET", "/large.html").fields.Get("Etag")
	for range 20 {
		for _, fields := range [][]string{
			nil, {"If-None-Match: " + tag}, {`If-Match: "x"`}, {"Range: bytes=1000-"}, {"Range: bytes=0-1,5-6"}, {"Range: bytes=0-1"},
		} {
			b.ask("GET", "/large.html", fields...)
		}
		b.ask("GET", "/small.html")
		b.ask("GET", "/missing")
		b.ask("GET", "/")
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestContentTypes(t *testing.T) {
	for name, want := range map[string]string{
		"a.html": "text/html; charset=utf-8", "A.HTM": "text/html; charset=utf-8", "a.txt": "text/plain; charset=utf-8",
		"a.tar.gz": "application/gzip", "a.js": "text/javascript; charset=utf-8", "a.png": "image/png", "a": "application/octet-stream",
		"a.html/b": "application/octet-stream", "a.": "application/octet-stream",
	} {
		if got := TypeOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
