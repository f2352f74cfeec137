//go:build !race

package static

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weighstone/weighstone"
)

// absentFields are the fields of a request without any that matter here.
type absentFields struct{}

func (absentFields) Get(string) []byte         { return nil }
func (absentFields) Each(weighstone.FieldSink) {}

// oneField is a single header line.
type oneField struct {
	name  string
	value []byte
}

func (f *oneField) Get(name string) []byte {
	if name == f.name {
		return f.value
	}
	return nil
}

func (f *oneField) Each(sink weighstone.FieldSink) { sink.Field([]byte(f.name), f.value) }

// serveAgain returns what serves one warm request.
func serveAgain(h *Handler, path string, fields weighstone.Fields) (*weighstone.Exchange, func()) {
	x, p := &weighstone.Exchange{}, []byte(path)
	return x, func() {
		x.Reset()
		x.In.Verb, x.In.Path, x.In.Fields = weighstone.GET, p, fields
		h.Serve(x)
	}
}

func TestWarmRequestAllocatesNothing(t *testing.T) {
	b := pair(t)
	tag := b.ask("GET", "/small.html").fields.Get("Etag")
	for name, c := range map[string]struct {
		fields weighstone.Fields
		status int
	}{
		"whole":        {absentFields{}, 200},
		"not modified": {&oneField{"If-None-Match", []byte(tag)}, 304},
		"not since":    {&oneField{"If-Modified-Since", []byte(publishedField)}, 304},
	} {
		x, serve := serveAgain(b.h, "/small.html", c.fields)
		if n := testing.AllocsPerRun(1000, serve); n != 0 || x.Out.Code() != c.status {
			t.Errorf("%s: %v allocations, status %d", name, n, x.Out.Code())
		}
	}
}

func BenchmarkServe(b *testing.B) {
	dir := b.TempDir()
	for name, size := range map[string]int{"small.html": 100, "large.html": 200 << 10} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	h, err := New(Options{Roots: []string{b.TempDir(), dir}})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for _, path := range []string{"/small.html", "/large.html", "/missing.html"} {
		b.Run(path[1:], func(b *testing.B) {
			x, serve := serveAgain(h, path, absentFields{})
			b.ReportAllocs()
			for b.Loop() {
				serve()
				x.Out.Body.Close()
			}
		})
	}
}
