//go:build !race

package servertest_test

import (
	"net"
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// allocations are what the process that serves a path allocates for 10,000 warm
// requests, or for its part of them. With once, each request has a connection of
// its own. heap is where the process tells; if empty, the server is in this one.
func allocations(t *testing.T, addr, path string, once bool, heap string) uint64 {
	t.Helper()
	look := func(line string) uint64 {
		if heap == "" {
			return heapObjects()
		}
		n, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	c := startChild(t, askerRole, addr, path, strconv.FormatBool(once), heap)
	before := look(c.Line())
	c.Tell("go")
	after := look(c.Line())
	c.Tell("end")
	c.End()
	return after - min(before, after)
}

// warm are what may be answered without allocating: a file in memory, a page,
// and bytes made for the request.
var warm = []struct {
	path string
	size int
}{{"/100.html", 100}, {"/api/hello", 77}, {"/api/send?size=1000", 1000}}

// TestWarmRequestsAllocateNothing: 10,000 requests cost at most 100 objects on
// the heap, on net/http as many as a handler of its own that sends the same.
func TestWarmRequestsAllocateNothing(t *testing.T) {
	const most = 100
	onEach(t, func(t *testing.T, e servertest.Engine) {
		// As the program has it, or threads would hand their shares about.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + e.Procs))
		s := start(t, e, place{Kind: apiPlace, Root: newRoot(t)}, weighstone.Options{})
		for _, w := range warm {
			got := allocations(t, s.Addr, w.path, e.Alone, heapPath)
			limit := uint64(most)
			if e.Name == "nethttp" {
				limit += nativeAllocations(t, w.size)
			}
			// What a busy machine makes the runtime allocate differs each time;
			// what requests allocate doesn't.
			for range 3 {
				if got > limit {
					got = min(got, allocations(t, s.Addr, w.path, e.Alone, heapPath))
				}
			}
			t.Logf("%s: %d objects for %d requests, at most %d", w.path, got, asked, limit)
			if got > limit {
				t.Errorf("%s: %d objects for %d requests, want at most %d", w.path, got, asked, limit)
			}
		}
	})
}

// nativeAllocations are those of a handler written for net/http that sends the
// same bytes and header lines as a page or file of this size.
func nativeAllocations(t *testing.T, size int) uint64 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body, length := pattern(size), strconv.Itoa(size)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Server", weighstone.Software)
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Length", length)
			if size == 100 {
				h.Set("Last-Modified", lastModified)
				h.Set("ETag", `"b8f1d1d6b064577a"`)
				h.Set("Accept-Ranges", "bytes")
			}
			w.WriteHeader(http.StatusOK)
			w.Write(body)
		}),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	n := allocations(t, l.Addr().String(), "/", false, "")
	server.Close()
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	return n
}
