package servertest_test

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestOverload: with twice as many connections as there may be, those above wait
// in the queue, where some of them leave; the others are served when one of the
// first ends, and when all have ended nothing is left of it.
func TestOverload(t *testing.T) {
	const limit = 4
	onEach(t, func(t *testing.T, e servertest.Engine) {
		if e.Alone {
			queuedThenServed(t, e)
			return
		}
		s, server := suite(t, e, weighstone.Options{Limits: weighstone.Limits{MaxConns: limit}})
		var taken, waiting []*servertest.Client
		for range limit {
			c := s.Dial(t)
			c.Get("/100.html", 200)
			taken = append(taken, c)
		}
		for range limit {
			c := s.Dial(t)
			c.Send(servertest.Get("/20k.html"))
			waiting = append(waiting, c)
		}
		waiting[0].SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if n, err := waiting[0].Read(make([]byte, 1)); n > 0 || !os.IsTimeout(err) {
			t.Errorf("a connection beyond the limit: %d bytes, %v", n, err)
		}
		awaitConns(t, server, limit)
		waiting[1].Close()
		waiting[2].Abort()
		for i, c := range []*servertest.Client{waiting[0], waiting[3]} {
			taken[i].Get("/100.html", 200) // the others go on meanwhile
			taken[i].Close()
			if i > 0 { // what has left may be in front
				taken[2].Close()
				taken[3].Close()
			}
			c.Want("GET", 200)
			c.Close()
		}
		awaitConns(t, server, 0)
		s.Dial(t).Get("/100.html", 200)
	})
}

// queuedThenServed: while a server that serves one connection at a time has one,
// others wait in the queue. Each is served in its turn.
func queuedThenServed(t *testing.T, e servertest.Engine) {
	s, server := suite(t, e, weighstone.Options{})
	request := get("/100.html")
	first := s.Dial(t)
	first.Send(request[:10])
	awaitConns(t, server, 1)
	var waiting []*servertest.Client
	for range 3 {
		c := s.Dial(t)
		c.Send(request)
		waiting = append(waiting, c)
	}
	waiting[0].SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := waiting[0].Read(make([]byte, 1)); n > 0 || !os.IsTimeout(err) {
		t.Errorf("a second connection: %d bytes, %v", n, err)
	}
	awaitConns(t, server, 1)
	first.Send(request[10:])
	for _, c := range append([]*servertest.Client{first}, waiting...) {
		c.Want("GET", 200)
	}
}

// TestResets: clients that leave with a reset, at whatever point, harm nobody.
func TestResets(t *testing.T) { onFamilies(t, resets) }

func resets(t *testing.T, e servertest.Engine) {
	body := string(pattern(30000))
	sends := []string{
		"",
		"GET /100.ht",
		get("/100.html"),
		get("/4m.bin"),
		get("/20k.html") + get("/20k.html") + get("/20k.html"),
		get("/test/stream"),
		get("/test/endless"),
		request("POST", "/test/mirror", "Content-Length: 100000") + body,
		request("POST", "/test/mirror", "Transfer-Encoding: chunked") + "7530\r\n" + body,
		request("POST", "/test/mirror", "Expect: 100-continue", "Content-Length: 100000"),
		request("POST", "/100.html", "Content-Length: 100000") + body,
	}
	s, server := suite(t, e, weighstone.Options{})
	var all sync.WaitGroup
	for i := range 100 {
		conn, err := net.Dial("tcp", s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			io.WriteString(conn, sends[i%len(sends)])
			if i%2 == 0 { // let the server get on with it
				conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
				io.ReadFull(conn, make([]byte, 1+i*100))
			}
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		})
	}
	all.Wait()
	awaitConns(t, server, 0)
	s.Dial(t).Get("/100.html", 200)
}

// TestStats: the counters agree with what the clients saw.
func TestStats(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, server := suite(t, e, weighstone.Options{})
		const conns = 5
		var bytes uint64
		for range conns {
			c := s.Dial(t)
			for range 3 {
				bytes += uint64(len(c.Get("/100.html", 200).Raw))
			}
			bytes += uint64(len(c.Get("/none", 404).Raw))
			bytes += uint64(len(c.Get("/200k.bin", 200).Raw))
			bytes += uint64(len(c.Get("/test/stream", 200).Raw))
			c.Send("BAD\r\n\r\n")
			bytes += uint64(len(c.Want("GET", 400).Raw))
			c.Close()
		}
		awaitConns(t, server, 0)
		st := server.Stats()
		accepted := uint64(conns)
		if e.Alone {
			accepted *= 7
		}
		if st.Accepted != accepted || st.Requests != 7*conns || st.Responses[2] != 5*conns || st.Responses[4] != 2*conns || st.BytesSent != bytes {
			t.Errorf("%+v; want %d accepted, %d requests, %d 2xx, %d 4xx, %d bytes", st, accepted, 7*conns, 5*conns, 2*conns, bytes)
		}
	})
}

// TestClientLeaves: a handler that waits learns that its client has left.
func TestClientLeaves(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		at := place{Kind: gonePlace}
		told := at.listen(t)
		s := start(t, e, at, weighstone.Options{})
		for name, leave := range map[string]func(*servertest.Client){
			"reset":      (*servertest.Client).Abort,
			"closed":     func(c *servertest.Client) { c.Close() },
			"halfclosed": func(c *servertest.Client) { c.CloseWrite() },
		} {
			c := s.Dial(t)
			c.Send(servertest.Get("/wait"))
			told.await('e')
			leave(c)
			told.await('l')
			if name == "halfclosed" {
				c.Want("GET", 200)
				c.WantEnd(servertest.Closed)
			}
		}
	})
}
