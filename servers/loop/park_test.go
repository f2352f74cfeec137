package loop_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/uring"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// An oracle is a handler that answers what it is told on a socket: each question
// comes to the test through asked.
type oracle struct {
	asked  chan *question
	queued atomic.Bool  // questions have no socket before they are woken
	turned atomic.Int32 // questions served without being ready
}

// A question is an exchange of an oracle, parked or served at once.
type question struct {
	o         *oracle
	near, far int
	wake      func()
	open      atomic.Bool // there is a socket
	said      []byte
	ready     bool
	over      chan string // how it ended
}

// ask makes a question; far is the test's.
func (o *oracle) ask(wake func()) *question {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	q := &question{o: o, near: pair[0], far: pair[1], wake: wake, over: make(chan string, 1)}
	q.open.Store(!o.queued.Load())
	o.asked <- q
	return q
}

func (o *oracle) Park(_ *weighstone.Exchange, wake func()) weighstone.Parked { return o.ask(wake) }
func (o *oracle) Serve(x *weighstone.Exchange)                               { o.ask(nil).Serve(x) }

// Look reads what the test has said: a line is the answer, and "!" makes it
// stuck.
func (q *question) Look() weighstone.Prospect {
	if !q.open.Load() {
		return weighstone.Waiting
	}
	b := make([]byte, 100)
	n, _ := sys.Read(q.near, b)
	q.said = append(q.said, b[:n]...)
	switch {
	case q.ready || n > 0 && b[n-1] == '\n':
		q.ready = true
		return weighstone.Ready
	case n > 0 && b[n-1] == '!':
		return weighstone.Stuck
	}
	return weighstone.Waiting
}

func (q *question) FD() int {
	if !q.open.Load() {
		return -1
	}
	return q.near
}

// Serve waits for the answer, or for the client to leave.
func (q *question) Serve(x *weighstone.Exchange) {
	how := "ready"
	if !q.ready {
		q.o.turned.Add(1)
		how = "turned"
	}
	for !q.ready && how != "gone" {
		select {
		case <-x.In.Gone:
			how = "gone"
		case <-time.After(time.Millisecond):
			q.Look()
		}
	}
	x.Scratch = append(x.Scratch, x.In.Path...)
	x.Scratch = append(x.Scratch, ' ')
	x.Scratch = append(x.Scratch, q.said...)
	x.SendScratch("text/plain")
	q.end(how)
}

func (q *question) Drop() { q.end("dropped") }

func (q *question) end(how string) {
	sys.Close(q.near)
	sys.Close(q.far)
	q.over <- how
}

// say has a question answered.
func (q *question) say(t *testing.T, s string) {
	t.Helper()
	if n, errno := sys.Send(q.far, []byte(s)); errno != 0 || n != len(s) {
		t.Error(errno)
	}
}

// parking runs a test on each transport, and with edges, which are told once.
func parking(t *testing.T, test func(t *testing.T, s *servertest.Server, o *oracle)) {
	for _, c := range []struct {
		engine servertest.Engine
		knobs  weighstone.Knobs
	}{
		{servertest.Engine{Name: "epoll", New: loop.NewEpoll}, weighstone.Knobs{}},
		{servertest.Engine{Name: "epoll", New: loop.NewEpoll}, weighstone.Knobs{EdgeTriggered: true}},
		{servertest.Engine{Name: "poll", New: loop.NewPoll}, weighstone.Knobs{}},
		{servertest.Engine{Name: "select", New: loop.NewSelect}, weighstone.Knobs{}},
		{servertest.Engine{Name: "uring", New: loop.NewUring}, weighstone.Knobs{}},
	} {
		t.Run(fmt.Sprintf("%s edge=%v", c.engine.Name, c.knobs.EdgeTriggered), func(t *testing.T) {
			if err := uring.Supported(); c.engine.Name == "uring" && err != nil {
				t.Skip(err) // as startUring
			}
			o := &oracle{asked: make(chan *question, 100)}
			routes := site(t, nil).Routes()
			site, err := weighstone.NewSite(0, *routes[0],
				weighstone.Route{Pattern: "/ask/", Methods: weighstone.GET, Waits: true, Handler: o})
			if err != nil {
				t.Fatal(err)
			}
			test(t, servertest.Start(t, c.engine, site, weighstone.Options{Knobs: c.knobs, Limits: weighstone.Limits{Write: patience}}), o)
		})
	}
}

func request(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n" }

// next is the next question.
func (o *oracle) next(t *testing.T) *question {
	t.Helper()
	select {
	case q := <-o.asked:
		return q
	case <-time.After(patience):
		t.Fatal("nothing was asked")
		return nil
	}
}

// how waits for the end of a question.
func (q *question) how(t *testing.T) string {
	t.Helper()
	select {
	case how := <-q.over:
		return how
	case <-time.After(patience):
		t.Fatal("the question has no end")
		return ""
	}
}

// TestParked: an exchange is answered in the loop, with what is pipelined around
// it in order, and while it waits it counts as one in a handler.
func TestParked(t *testing.T) {
	parking(t, func(t *testing.T, s *servertest.Server, o *oracle) {
		c := dial(t, s.Addr)
		r := bufio.NewReader(c)
		for ready := false; !ready; { // one in time: a slow machine may take longer than a loop waits
			send(t, c, request("/100.html")+request("/ask/1")+request("/100.html")+request("/ask/2"))
			first := o.next(t)
			eventually(t, "it is seen to wait", func() bool { return s.Stats().Conns[weighstone.StateHandler] == 1 })
			send(t, c, request("/ask/3"))
			first.say(t, "one\n")
			second := o.next(t)
			second.say(t, "t")
			second.say(t, "wo\n")
			o.next(t).say(t, "three\n")
			got := replies(t, r, 5)
			if got[1] != "/ask/1 one\n" || got[3] != "/ask/2 two\n" || got[4] != "/ask/3 three\n" {
				t.Fatalf("replies %q", got)
			}
			ready = first.how(t) == "ready"
		}
	})
}

// TestParkedAndTurned: an exchange that takes long, or that can't go on without
// waiting, is served by a goroutine, and the connection comes back.
func TestParkedAndTurned(t *testing.T) {
	parking(t, func(t *testing.T, s *servertest.Server, o *oracle) {
		c := dial(t, s.Addr)
		r := bufio.NewReader(c)
		for i, word := range []string{"", "stuck!"} {
			send(t, c, request("/ask/"))
			q := o.next(t)
			if word != "" {
				q.say(t, word)
			}
			eventually(t, "it is turned", func() bool { return o.turned.Load() == int32(i+1) })
			q.say(t, "late\n")
			if got := replies(t, r, 1)[0]; got != "/ask/ "+word+"late\n" {
				t.Fatalf("reply %q", got)
			}
			send(t, c, request("/100.html"))
			replies(t, r, 1)
		}
	})
}

// TestParkedAndWoken: an exchange without a socket waits for its wake, from
// whatever goroutine, and one too many does nothing.
func TestParkedAndWoken(t *testing.T) {
	parking(t, func(t *testing.T, s *servertest.Server, o *oracle) {
		o.queued.Store(true)
		c := dial(t, s.Addr)
		r := bufio.NewReader(c)
		for ready := false; !ready; {
			send(t, c, request("/ask/"))
			q := o.next(t)
			q.wake()
			q.say(t, "woken\n")
			q.open.Store(true)
			q.wake()
			q.wake()
			if got := replies(t, r, 1)[0]; got != "/ask/ woken\n" {
				t.Fatalf("reply %q", got)
			}
			ready = q.how(t) == "ready"
			q.wake()
		}
	})
}

// TestParkedClientLeaves: a client that only ends its side gets its reply; one
// that has left is told of to who goes on, and an exchange is ended once.
func TestParkedClientLeaves(t *testing.T) {
	parking(t, func(t *testing.T, s *servertest.Server, o *oracle) {
		half := dial(t, s.Addr)
		for ready := false; !ready; {
			send(t, half, request("/ask/"))
			q := o.next(t)
			if err := half.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			q.say(t, "still\n")
			how := q.how(t)
			all, err := io.ReadAll(half)
			if how != "gone" && (err != nil || !strings.HasSuffix(string(all), "/ask/ still\n")) {
				t.Fatalf("reply %q, %v, to an exchange that was %s", all, err, how)
			}
			ready = how == "ready"
			half = dial(t, s.Addr)
		}
		left := dial(t, s.Addr)
		send(t, left, request("/ask/"))
		q := o.next(t)
		left.Close()
		if how := q.how(t); how != "gone" && how != "dropped" {
			t.Errorf("the exchange was %s", how)
		}
		eventually(t, "the connection ends", func() bool { return s.Stats().Conns[weighstone.StateHandler] == 0 })
	})
}

// TestParkedAndCutOff: a server that ends at once ends what is parked.
func TestParkedAndCutOff(t *testing.T) {
	parking(t, func(t *testing.T, s *servertest.Server, o *oracle) {
		var all []*question
		for range 20 {
			c := dial(t, s.Addr)
			send(t, c, request("/ask/"))
			all = append(all, o.next(t))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
		defer cancel()
		_ = s.Drain(ctx) // it says that it was cut off
		for _, q := range all {
			if how := q.how(t); how != "gone" && how != "dropped" {
				t.Errorf("an exchange was %s", how)
			}
		}
	})
}
