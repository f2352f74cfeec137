package load

import (
	"runtime"
	"sync"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// serveRaw answers every read with reply on one goroutine that allocates
// nothing, closing after each if it is not kept; it returns the port's URL.
func serveRaw(t testing.TB, reply string, keep bool) string {
	t.Helper()
	url, stop, err := startRaw(reply, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

func startRaw(reply string, keep bool) (url string, stop func(), err error) {
	lfd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		return "", nil, err
	}
	unix.SetNonblock(lfd, true)
	epfd, _ := sys.EpollCreate()
	wake, _ := sys.EventFD()
	sys.EpollCtl(epfd, unix.EPOLL_CTL_ADD, lfd, unix.EPOLLIN)
	sys.EpollCtl(epfd, unix.EPOLL_CTL_ADD, wake, unix.EPOLLIN)
	var done sync.WaitGroup
	open := make([]bool, 4096)
	done.Go(func() {
		b, out := make([]byte, 4096), []byte(reply)
		events := make([]unix.EpollEvent, 64)
		for {
			n, _ := sys.EpollWait(epfd, events, -1, 0)
			for _, e := range events[:n] {
				fd := int(e.Fd)
				switch fd {
				case wake:
					return
				case lfd:
					if c, _, errno := sys.Accept(lfd); errno == 0 {
						open[c] = true
						sys.EpollCtl(epfd, unix.EPOLL_CTL_ADD, c, unix.EPOLLIN)
					}
				default:
					k, _ := sys.Read(fd, b)
					if k > 0 {
						sys.Send(fd, out)
					}
					if k <= 0 || !keep {
						open[fd] = false
						sys.Close(fd)
					}
				}
			}
		}
	})
	stop = func() {
		sys.Wake(wake)
		done.Wait()
		for fd, is := range open {
			if is {
				sys.Close(fd)
			}
		}
		sys.Close(lfd)
		sys.Close(epfd)
		sys.Close(wake)
	}
	return "http://" + sys.LocalAddr(lfd).String() + "/x", stop, nil
}

// TestRequestsAllocateNothing compares the allocations of a short run and of
// one with 10,000 requests more.
func TestRequestsAllocateNothing(t *testing.T) {
	const more, most = 4000, 100
	closing := "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
	open := pace.Arrival{Kind: pace.Poisson, Rate: 20000}
	for name, c := range map[string]struct {
		reply  string
		config Config
	}{
		"open loop":           {ok("0123456789"), Config{Keepalive: true, Arrival: open}},
		"connections ahead":   {closing, Config{ConnectAhead: 8, Arrival: open}},
		"client closes first": {ok("hi"), Config{CloseFirst: true}},
		"slow readers":        {ok("0123456789"), Config{Keepalive: true, ReadRate: 1 << 20}},
		"kept":                {ok("0123456789"), Config{Keepalive: true}},
		"kept, chunked":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n012\r\n0\r\n\r\n", Config{Keepalive: true, HashEvery: 1}},
		"one a connection":    {closing, Config{}},
		"wrong":               {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nhi", Config{Keepalive: true}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serveRaw(t, c.reply, c.config.Keepalive || c.config.CloseFirst)
			run := func(requests uint64) uint64 {
				var before, after runtime.MemStats
				c.config.Requests, c.config.Clients = requests, 8
				runtime.ReadMemStats(&before)
				r := runs(t, url, c.config)
				runtime.ReadMemStats(&after)
				if r.Good()+r.Bad() != requests || r.Bad() != r.Tally.Faults[bench.FaultStatus] {
					t.Fatalf("good %d, bad %v: %v", r.Good(), r.Tally.Faults, r.Offence)
				}
				return after.Mallocs - before.Mallocs
			}
			run(100)
			few := run(100)
			if many := run(100 + more); many > few+most {
				t.Errorf("%d objects for %d requests more", many-few, more)
			}
		})
	}
}

// BenchmarkKept is a whole round trip, the little server's share included.
func BenchmarkKept(b *testing.B) {
	url := serveRaw(b, ok("0123456789"), true)
	b.ReportAllocs()
	runs(b, url, Config{Requests: uint64(max(b.N, 8)), Clients: 8, Workers: 1, Keepalive: true})
}
