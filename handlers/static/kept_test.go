package static

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// file is what an exchange for target would send, and stays the handler's.
func (b *bench) file(target string) *os.File {
	b.t.Helper()
	x := &weighstone.Exchange{In: weighstone.Request{Method: []byte("GET"), Target: []byte(target), Minor: 1, Fields: parse()}}
	if r := b.site.Find(x); r != nil {
		r.Handler.Serve(x)
	}
	if x.Out.Body.Kind != weighstone.BodyFile {
		b.t.Fatalf("%s: body of kind %v", target, x.Out.Body.Kind)
	}
	f := x.Out.Body.File
	if err := x.Out.Body.Close(); err != nil { // as an engine does
		b.t.Fatal(err)
	}
	if _, err := f.Stat(); (err == nil) != x.Out.Body.Shared {
		b.t.Errorf("%s: shared %v, and after the exchange: %v", target, x.Out.Body.Shared, err)
	}
	return f
}

// TestDescriptorsAreKept: a file is opened once and sent from there, until it
// changes; so many and no more are kept open, and none after the end.
func TestDescriptorsAreKept(t *testing.T) {
	b := newBench(t, 1, Options{MemoryLimit: -1, Descriptors: 2})
	for _, name := range []string{"a", "b", "c"} {
		b.write("0/"+name, "file "+name)
	}
	first := b.file("/a")
	for range 3 {
		if b.file("/a") != first {
			t.Error("the file was opened again")
		}
	}
	if got := b.ask("GET", "/a", "Range: bytes=5-5"); got.status != 206 || got.body != "a" {
		t.Errorf("a part of a kept file: %+v", got)
	}
	if got := b.ask("GET", "/a", "If-None-Match: "+b.ask("HEAD", "/a").fields.Get("ETag")); got.status != 304 {
		t.Errorf("a condition on a kept file: %+v", got)
	}
	b.file("/b")
	if third := b.file("/c"); b.file("/c") == third {
		t.Error("a third file was kept open, of two")
	}
	b.write("0/a", "new file a")
	b.time += 2 * checkEvery
	if got := b.ask("GET", "/a"); got.body != "new file a" {
		t.Errorf("after a change: %q", got.body)
	}
	if b.file("/a") == first {
		t.Error("the old file is kept open after a change")
	}
	last := b.file("/a")
	if err := b.h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := last.Stat(); err == nil {
		t.Error("a file is open after the end")
	}
}

// TestOverride: an override file anywhere along the path refuses what is below
// it, unless it has only comments; it counts at once, for files in memory too.
func TestOverride(t *testing.T) {
	b := newBench(t, 2, Options{Override: ".htaccess"})
	b.write("0/page", "page")
	b.write("0/sub/dir/page", "deep page")
	all := []string{"/page", "/sub/dir/page"}
	want := func(what string, statuses ...int) {
		t.Helper()
		for i, target := range all {
			for range 2 {
				if got := b.ask("GET", target).status; got != statuses[i] {
					t.Errorf("%s: %s is answered %d, want %d", what, target, got, statuses[i])
				}
			}
		}
	}
	remove := func(path string) {
		if err := os.Remove(filepath.Join(b.dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	want("without", 200, 200)
	b.write("0/.htaccess", "# a comment\n\n  # another")
	want("with comments", 200, 200)
	b.write("0/.htaccess", "# a comment\nDeny from all\n")
	want("with a directive at the root", 500, 500)
	remove("0/.htaccess")
	b.write("0/sub/.htaccess", "Deny from all\n")
	want("with a directive below", 200, 500)
	remove("0/sub/.htaccess")
	b.write("1/sub/dir/.htaccess", "Deny from all\n")
	want("with a directive in another root", 200, 500)
	remove("1/sub/dir/.htaccess")
	want("without again", 200, 200)
	if got := b.ask("GET", "/sub/.htaccess").status; got != 404 {
		t.Errorf("an override file is answered %d itself, want 404", got)
	}
	x := &weighstone.Exchange{In: weighstone.Request{Method: []byte("GET"), Target: []byte("/page"), Minor: 1, Fields: parse()}}
	b.site.Find(x).Handler.Serve(x)
	if x.Out.Fresh != 0 {
		t.Errorf("a reply may be used again for %v, though overrides are looked up for every request", x.Out.Fresh)
	}
}

func TestOverrideNames(t *testing.T) {
	for _, name := range []string{"htaccess", ".", "..", ".a/b", ".\x00"} {
		if _, err := New(Options{Roots: []string{t.TempDir()}, Override: name}); err == nil {
			t.Errorf("override files may be called %q", name)
		}
	}
}

// TestFresh: what is from memory may be used again until it would be looked at.
func TestFresh(t *testing.T) {
	b := newBench(t, 1, Options{})
	b.write("0/page", "page")
	b.ask("GET", "/page")
	for _, later := range []time.Duration{0, checkEvery / 4, checkEvery / 2} {
		x := &weighstone.Exchange{In: weighstone.Request{Method: []byte("GET"), Target: []byte("/page"), Minor: 1, Fields: parse()}}
		b.time += later
		b.site.Find(x).Handler.Serve(x)
		if want := checkEvery - b.time; x.Out.Fresh != want {
			t.Errorf("%v after it was looked at, fresh for %v, want %v", b.time, x.Out.Fresh, want)
		}
	}
}
