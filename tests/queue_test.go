package tests

import (
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weighstone/weighstone/cgi/fcgi"
)

// TestQueueIsBounded: of a thousand requests at once to an application that is
// busy with four, a hundred wait; the rest are refused while it still is, and
// told to come again.
func TestQueueIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	release, served := make(chan struct{}), make(chan error, 1)
	go func() {
		served <- fcgi.Serve(l, func(r *fcgi.Request) uint32 {
			<-release
			io.WriteString(r.Out, "Content-type: text/plain\n\nhello")
			return 0
		})
	}()
	s := serve(t, "epoll", "--fastcgi", "/app/=unix:"+path, "--fcgi-connections", "4", "--fcgi-queue", "100")
	const asked, room = 1000, 4 + 100
	var refused, answered atomic.Int64
	var all sync.WaitGroup
	for range asked {
		all.Go(func() {
			transport := &http.Transport{DisableKeepAlives: true}
			r, err := http.NewRequest("GET", "http://"+s.addr+"/app/x", nil)
			if err != nil {
				t.Error(err)
				return
			}
			res, err := transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			switch {
			case res.StatusCode == 503 && res.Header.Get("Retry-After") != "":
				refused.Add(1)
			case res.StatusCode == 200:
				answered.Add(1)
			default:
				t.Errorf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
			}
		})
	}
	// Nothing has been answered yet, so that refusals did not wait for it.
	eventually(t, "all beyond the queue are refused", func() bool { return refused.Load() == asked-room })
	close(release)
	all.Wait()
	if n := answered.Load(); n != room {
		t.Errorf("%d are answered, want %d", n, room)
	}
	s.stop()
	l.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the application ends with %v", err)
	}
}
