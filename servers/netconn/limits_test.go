package netconn_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// TestSlowClients dribbles, or does nothing, and is cut off. How soon is not
// judged: the limits are far below what the connections of the test allow.
func TestSlowClients(t *testing.T) {
	const short = 300 * time.Millisecond
	limits := weighstone.Limits{Header: short, Body: short, Idle: short}
	const expect = "Expect: 100-continue\r\n"
	cases := []struct{ name, start, dribble, status string }{ // status is "" for no reply
		{"silent", "", "", ""},
		{"half a line", "GET /pa", "", "408"},
		{"dribbled head", "GET /page HTTP/1.1\r\n", "X: y\r\n", "408"},
		{"idle", request("GET", "/page", "1.1", ""), "", "200"},
		{"idle, then half a head", request("GET", "/page", "1.1", "") + "GET ", "", "200"},
		{"no body", request("POST", "/mirror", "1.1", "Content-Length: 100\r\n"), "", "408"},
		{"dribbled body", request("POST", "/mirror", "1.1", "Content-Length: 1000\r\n"), "x", "408"},
		{"dribbled chunks", request("POST", "/mirror", "1.1", "Transfer-Encoding: chunked\r\n"), "1\r\nx\r\n", "408"},
		{"dribbled short body", request("POST", "/buffered", "1.1", "Content-Length: 1000\r\n"), "x", "408"},
		{"dribbled body that is dropped", request("POST", "/missing", "1.1", "Content-Length: 1000\r\n"), "x", "404"},
		{"no body after 100", request("POST", "/mirror", "1.1", expect+"Content-Length: 100\r\n"), "", "408"},
	}
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{Limits: limits}), newSite(t).Site)
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				c := s.client(t)
				c.send(t, tc.start)
				stop := dribble(c, tc.dribble)
				b, err := io.ReadAll(c.r)
				stop()
				if err != nil {
					t.Fatalf("not cut off: %v, after %q", err, b)
				}
				replies := strings.TrimPrefix(string(b), "HTTP/1.1 100 Continue\r\n\r\n")
				if tc.status == "" && replies != "" || !strings.HasPrefix(replies, strings.TrimSpace("HTTP/1.1 " + tc.status)[:min(len(replies), 12)]) {
					t.Errorf("replies %q, want status %s", replies, tc.status)
				}
			})
		}
	})
}

// dribble sends piece again and again until stopped.
func dribble(c *client, piece string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for piece != "" {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = io.WriteString(c.TCPConn, piece)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// TestSlowReader takes nothing of a reply and is cut off; one that takes a
// little now and then gets all of it.
func TestSlowReader(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		s := run(t, newServer(weighstone.Options{Limits: weighstone.Limits{Write: time.Second}}), site.Site)
		for _, target := range []string{"/large-file", "/large-scratch"} {
			c := s.client(t)
			_ = c.SetReadBuffer(4 << 10)
			c.send(t, request("GET", target, "1.1", ""))
			for s.Stats().Conns[weighstone.StateWrite] == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			for s.Stats().Conns[weighstone.StateWrite] > 0 {
				time.Sleep(10 * time.Millisecond)
			}
			if n, _ := io.Copy(io.Discard, c.r); n >= large {
				t.Errorf("%s: got all %d bytes", target, n)
			}

		}

		c := s.client(t)
		c.send(t, request("GET", "/large-file", "1.1", "Connection: close\r\n"))
		for range 10 { // longer than the limit, all in all
			_, _ = io.ReadFull(c.r, make([]byte, large/20))
			time.Sleep(200 * time.Millisecond)
		}
		if n, err := io.Copy(io.Discard, c.r); err != nil || n < large/2 {
			t.Errorf("the last %d bytes, %v", n, err)
		}
	})
}

// TestMaxConns has more connections than are allowed: the others wait.
func TestMaxConns(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		s := run(t, newServer(weighstone.Options{Limits: weighstone.Limits{MaxConns: 2}}), newSite(t).Site)
		first, second, third := s.client(t), s.client(t), s.client(t)
		first.get(t, "/page")
		second.get(t, "/page")
		third.send(t, request("GET", "/page", "1.1", ""))
		_ = third.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if b, err := third.r.Peek(1); err == nil {
			t.Errorf("the third connection got %q", b)
		}
		_ = third.SetReadDeadline(time.Now().Add(20 * time.Second))
		_ = first.Close()
		if r := third.reply(t, "GET"); r.StatusCode != 200 {
			t.Error(r.Status)
		}
		if n := s.Stats().Accepted; n != 3 {
			t.Errorf("%d connections accepted", n)
		}
	})
}

// TestDrain drains while connections are idle, half a head, half a body, in a
// handler, and in the accept queue.
func TestDrain(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		s := run(t, newServer(weighstone.Options{Limits: weighstone.Limits{MaxConns: 6}}), site.Site)
		idle, late, fresh := s.client(t), s.client(t), s.client(t)
		idle.get(t, "/page")
		late.get(t, "/page")
		head, body, waiting := s.client(t), s.client(t), s.client(t)
		head.send(t, "GET /page HTTP/1.1\r\nHo")
		body.send(t, request("POST", "/mirror", "1.1", "Content-Length: 5\r\n")+"he")
		waiting.send(t, request("GET", "/wait", "1.1", ""))
		<-site.entered
		for s.Stats().Accepted < 6 {
			time.Sleep(time.Millisecond)
		}
		queued := s.client(t) // one too many: it waits in the queue
		queued.send(t, request("GET", "/page", "1.1", ""))

		drained := asyncDrain(s, context.Background())
		time.Sleep(100 * time.Millisecond) // within the grace
		late.send(t, request("GET", "/page", "1.1", ""))
		head.send(t, "st: test\r\n\r\n")
		body.send(t, "llo")
		for name, c := range map[string]*client{"late": late, "head": head, "body": body, "queued": queued} {
			if r := c.reply(t, "GET"); r.StatusCode != 200 || !r.Close {
				t.Errorf("%s: %s, close %v", name, r.Status, r.Close)
			}
			c.ended(t)
			_ = c.Close()
		}
		for _, c := range []*client{idle, fresh} {
			c.ended(t)
			_ = c.Close()
		}
		select {
		case err := <-drained:
			t.Error("drained before the handler had answered:", err)
		default:
		}
		close(site.leave)
		if r := waiting.reply(t, "GET"); r.StatusCode != 200 || !r.Close {
			t.Errorf("waiting: %s, close %v", r.Status, r.Close)
		}
		_ = waiting.Close()
		if err := <-drained; err != nil {
			t.Error(err)
		}
		s.stop(t)
		if c, err := net.Dial("tcp", s.addr); err != nil { // a successor may hold the socket
			t.Error("the listening socket was shut down:", err)
		} else {
			_ = c.Close()
		}
	})
}

func asyncDrain(s *running, ctx context.Context) <-chan error {
	drained := make(chan error, 1)
	go func() { drained <- s.Drain(ctx) }()
	return drained
}

// TestDrainCut drains with a limit that ends before a handler does.
func TestDrainCut(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := newServer(weighstone.Options{})
		s := &running{Server: server, addr: l.Addr().String(), served: make(chan error, 1), fd: rawListener(t, l)}
		_ = l.Close()
		go func() { s.served <- server.Serve([]int{s.fd}, site.Site) }()
		c := s.client(t)
		c.send(t, request("GET", "/wait", "1.1", ""))
		<-site.entered
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		drained := asyncDrain(s, ctx)
		if b, err := io.ReadAll(c.r); len(b) > 0 {
			t.Errorf("the connection was answered %q, %v", b, err)
		}
		if err := <-drained; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("drain: %v", err)
		}
		close(site.leave)
		if err := <-s.served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}
