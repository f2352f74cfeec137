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
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/servertest"
)

// allocations are what a server allocates for 10,000 warm requests; heap is
// what its process has allocated so far. With once, each request has a
// connection of its own.
func allocations(t *testing.T, addr, path string, once bool, heap func() uint64) uint64 {
	t.Helper()
	c := startChild(t, askerRole, addr, path, strconv.FormatBool(once))
	c.line()
	heap() // the first look makes the metrics themselves
	before := heap()
	c.tell("go")
	c.line()
	after := heap()
	c.tell("end")
	c.end()
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
		s := start(t, e, place{Kind: apiPlace, Root: newRoot(t)}, aloneOf(t, e))
		for _, w := range warm {
			got := allocations(t, s.Addr, w.path, e.Alone, heapOf(t, s))
			limit := uint64(most)
			if e.Name == "nethttp" {
				limit += nativeAllocations(t, w.size)
			}
			t.Logf("%s: %d objects for %d requests, at most %d", w.path, got, asked, limit)
			if got > limit {
				t.Errorf("%s: %d objects for %d requests, want at most %d", w.path, got, asked, limit)
			}
		}
	})
}

// aloneOf are the options with which one process answers.
func aloneOf(t *testing.T, e servertest.Engine) (o weighstone.Options) {
	t.Helper()
	v, err := servers.Find(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	if v.Family == servers.Process {
		o.Workers = 1
	}
	return o
}

// heapOf asks for the allocations of the process in which a server answers:
// this one, or its only worker.
func heapOf(t *testing.T, s *servertest.Server) func() uint64 {
	t.Helper()
	v, err := servers.Find(s.Engine.Name)
	if err != nil {
		t.Fatal(err)
	}
	if v.Family != servers.Process {
		return heapObjects
	}
	return func() uint64 {
		c := s.Dial(t)
		defer c.Close()
		n, err := strconv.ParseUint(string(c.Get("/test/heap", 200).Body), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
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
	n := allocations(t, l.Addr().String(), "/", false, heapObjects)
	server.Close()
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	return n
}
