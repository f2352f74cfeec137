package servertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestDrainFinishes: what is in flight when a drain begins is answered: a head
// half sent, a body half sent, a reply half read, a request on an idle
// connection, and a connection that was not accepted yet.
func TestDrainFinishes(t *testing.T) { onFamilies(t, drainFinishes) }

func drainFinishes(t *testing.T, e servertest.Engine) {
	if e.Alone {
		drainFinishesOne(t, e)
		return
	}
	s, server := suite(t, e, weighstone.Options{})
	head := s.Dial(t)
	head.Send("GET /100.html HTTP/1.1\r\nHo")
	body := s.Dial(t)
	body.Send(request("POST", "/test/mirror", "Content-Length: 10") + "hello")
	reply := s.Dial(t)
	reply.Send(get("/4m.bin"))
	if _, err := reply.Read(make([]byte, 15)); err != nil { // "HTTP/1.1 200 OK"
		t.Fatal(err)
	}
	idle := s.Dial(t)
	idle.Get("/100.html", 200)
	silent := s.Dial(t)
	awaitConns(t, server, 5)
	done := make(chan struct{})
	go func() { server.Stop(); close(done) }()
	time.Sleep(100 * time.Millisecond) // within the grace of a second
	head.Send("st: a\r\n\r\n")
	body.Send("again")
	idle.Send(get("/100.html"))
	for _, c := range []*servertest.Client{head, body, idle} {
		if r := c.Want("GET", 200); r.Get("Connection") != "close" {
			t.Errorf("Connection: %q in a drain, want close", r.Get("Connection"))
		}
		c.WantEnd(servertest.Closed)
		c.Close()
	}
	got := 15
	buf := make([]byte, 64<<10)
	for {
		n, err := reply.Read(buf)
		got += n
		if err != nil {
			break
		}
	}
	if got < 4<<20 {
		t.Errorf("%d bytes of a reply that was half read", got)
	}
	reply.Close()
	silent.WantEnd(servertest.Closed)
	silent.Close()
	<-done
}

// drainFinishesOne is drainFinishes of a server that serves one connection at a
// time: the one in hand is answered, and those in the queue after it.
func drainFinishesOne(t *testing.T, e servertest.Engine) {
	for _, halves := range [][2]string{
		{"GET /100.html HTTP/1.1\r\nHo", "st: a\r\n\r\n"},
		{request("POST", "/test/mirror", "Content-Length: 10") + "hello", "again"},
	} {
		s, server := suite(t, e, weighstone.Options{})
		first := s.Dial(t)
		first.Send(halves[0])
		awaitConns(t, server, 1)
		queued := s.Dial(t)
		queued.Send(get("/100.html"))
		done := make(chan struct{})
		go func() { server.Stop(); close(done) }()
		time.Sleep(100 * time.Millisecond) // within the grace of a second
		first.Send(halves[1])
		first.Want("GET", 200)
		queued.Want("GET", 200)
		<-done
	}
}

// TestDrainTakesQueue: connections that wait in the accept queue when a drain
// begins are served.
func TestDrainTakesQueue(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		fd, err := sys.Listen("127.0.0.1:0", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		addr := sys.LocalAddr(fd).String()
		at := place{Kind: bodyPlace, Root: newRoot(t)}
		site, close, err := at.site()
		if err != nil {
			t.Fatal(err)
		}
		defer close()
		o, err := at.options(weighstone.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var clients []*servertest.Client
		for range 20 {
			c := servertest.DialEngine(t, e, addr)
			c.Send(get("/100.html"))
			clients = append(clients, c)
		}
		server := e.New(o)
		served := make(chan error)
		go func() { served <- server.Serve([]int{fd}, site) }()
		clients[0].Want("GET", 200) // so it serves
		var more []*servertest.Client
		for range 20 {
			c := servertest.DialEngine(t, e, addr)
			c.Send(get("/100.html"))
			more = append(more, c)
		}
		drained := make(chan error)
		go func() { drained <- server.Drain(context.Background()) }()
		for _, c := range append(clients[1:], more...) {
			c.Want("GET", 200)
			c.Close()
		}
		clients[0].Close()
		if err := errors.Join(<-drained, <-served); err != nil {
			t.Error(err)
		}
		sys.Close(fd)
	})
}

// TestDrainIsCutOff: when its time is over, a drain ends with what is left cut
// off, and says so.
func TestDrainIsCutOff(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		at := place{Kind: gonePlace}
		told := at.listen(t)
		site, _, err := at.site()
		if err != nil {
			t.Fatal(err)
		}
		o, err := at.options(weighstone.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fd, err := sys.Listen("127.0.0.1:0", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		defer sys.Close(fd)
		base := servertest.NewBase(t)
		server := e.New(o)
		served := make(chan error)
		go func() { served <- server.Serve([]int{fd}, site) }()
		c := servertest.Dial(t, sys.LocalAddr(fd).String())
		c.Send(get("/wait"))
		told.await('e')
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := server.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if end := c.Ending(); end != servertest.Closed && end != servertest.Reset {
			t.Errorf("the connection ends with %s", end)
		}
		c.Close()
		base.Check()
	})
}
