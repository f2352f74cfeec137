package upstream

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// volley asks for /fcgi-bin/constant n times on each of some kept connections,
// all at once, and allocates next to nothing itself.
func volley(t *testing.T, conns []net.Conn, n int) {
	t.Helper()
	const request = "GET /fcgi-bin/constant HTTP/1.1\r\nHost: test.example\r\nUser-Agent: volley\r\nAccept: */*\r\n\r\n"
	var all sync.WaitGroup
	for _, c := range conns {
		all.Go(func() {
			buf := make([]byte, 4<<10)
			for range n {
				if _, err := io.WriteString(c, request); err != nil {
					t.Error(err)
					return
				}
				have, end := 0, -1
				for end < 0 || have < end+4+162 {
					k, err := c.Read(buf[have:])
					if err != nil {
						t.Error(err)
						return
					}
					have += k
					end = bytes.Index(buf[:have], []byte("\r\n\r\n"))
				}
				if !bytes.HasPrefix(buf, []byte("HTTP/1.1 200 ")) || have != end+4+162 {
					t.Errorf("reply %q", buf[:have])
					return
				}
			}
		})
	}
	all.Wait()
}

// goroutines is how many this program has started.
func goroutines() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestParkedRequests: requests on kept connections, more at a time than there
// are workers, are answered within the event loop, but for those that a busy
// machine delays, and a request costs at most 2 KB of memory.
func TestParkedRequests(t *testing.T) {
	const clients, each, most = 8, 250, 2048
	s := withPrograms(t, Options{Workers: 2}, programs(t))
	var conns []net.Conn
	for range clients {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	volley(t, conns, 10)
	started := goroutines()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	volley(t, conns, each)
	runtime.ReadMemStats(&after)
	n := goroutines() - started
	perRequest := (after.TotalAlloc - before.TotalAlloc) / (clients * each)
	t.Logf("%d bytes a request; %d goroutines for %d requests", perRequest, n, clients*each)
	if !underRace && perRequest > most { // under it, pools forget what they are given now and then
		t.Errorf("%d bytes allocated a request, want at most %d", perRequest, most)
	}
	if n > clients*each/2 {
		t.Errorf("%d goroutines for %d requests, which were to be parked", n, clients*each)
	}
}
