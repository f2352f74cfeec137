//go:build !race

// The race detector allocates, so what is counted here would say nothing.

package netconn_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/std"
)

// TestAllocations counts the heap objects of warm requests on one connection.
// Server and client share the process; the client allocates nothing.
func TestAllocations(t *testing.T) {
	const requests = 10000
	site := newSite(t)
	for _, e := range engines {
		if e.name == "nethttp" {
			continue // see TestAllocationsStd
		}
		for _, path := range []string{"/page", "/scratch"} {
			t.Run(e.name+path, func(t *testing.T) {
				s := run(t, e.new(weighstone.Options{}), site.Site)
				c := s.dial(t)
				ask := newAsker(t, c, path)
				ask.times(t, 1000)
				if n := allocated(func() { ask.times(t, requests) }); n > 100 {
					t.Errorf("%d heap objects in %d requests, want at most 100", n, requests)
				}
			})
		}
	}
}

// An asker sends the same request again and again.
type asker struct {
	conn     net.Conn
	request  []byte
	reply    []byte
	expected int
}

func newAsker(t *testing.T, c net.Conn, path string) *asker {
	t.Helper()
	a := &asker{conn: c, reply: make([]byte, 64<<10)}
	a.request = fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: test\r\nUser-Agent: alloc\r\nAccept: */*\r\n\r\n", path)
	if _, err := c.Write(a.request); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(a.reply)
	if err != nil || !bytes.HasPrefix(a.reply, []byte("HTTP/1.1 200 ")) {
		t.Fatalf("%q, %v", a.reply[:n], err)
	}
	a.expected = n
	return a
}

func (a *asker) times(t *testing.T, n int) {
	for range n {
		if _, err := a.conn.Write(a.request); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < a.expected; {
			n, err := a.conn.Read(a.reply[got:a.expected])
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
	}
}

// allocated returns how many heap objects f allocates, all goroutines taken
// together. No collection empties the pools meanwhile.
func allocated(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64() + sample[1].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() + sample[1].Value.Uint64() - before
}

// TestAllocationsStd compares the engine nethttp with a handler written for
// net/http that sends the same header lines.
func TestAllocationsStd(t *testing.T) {
	const requests = 2000
	site := newSite(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	native := http.Server{Handler: nativeHandler(site.page)}
	go func() { _ = native.Serve(l) }()
	defer native.Close()
	for _, path := range []string{"/page", "/scratch"} {
		t.Run(path[1:], func(t *testing.T) {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ask := newAsker(t, c, path)
			ask.times(t, 500)
			theirs := allocated(func() { ask.times(t, requests) })

			ask = newAsker(t, run(t, std.New(weighstone.Options{}), site.Site).dial(t), path)
			ask.times(t, 500)
			ours := allocated(func() { ask.times(t, requests) })
			t.Logf("heap objects a request: %.2f, native %.2f", float64(ours)/requests, float64(theirs)/requests)
			if ours > theirs+requests/100 {
				t.Errorf("%d heap objects in %d requests, a native handler %d", ours, requests, theirs)
			}
		})
	}
}

// nativeHandler answers /page and /scratch as the test site does.
func nativeHandler(page []byte) http.Handler {
	modified := time.Unix(1e9, 0).UTC().Format(http.TimeFormat)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Server", weighstone.Software)
		h.Set("Content-Length", strconv.Itoa(len(page)))
		if r.URL.Path == "/page" {
			h.Set("Content-Type", "text/html")
			h.Set("Last-Modified", modified)
			h.Set("ETag", `"0123456789abcdef"`)
			h.Set("Accept-Ranges", "bytes")
		} else {
			h.Set("Content-Type", "text/plain")
		}
		_, _ = w.Write(page)
	})
}
