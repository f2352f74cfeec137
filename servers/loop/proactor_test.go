package loop_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/uring"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// startUring serves by io_uring. Where that is refused the test is skipped with
// the reason: that is the kernel's choice, and TestRefusedWithoutUring's matter.
func startUring(t *testing.T, s *weighstone.Site, o weighstone.Options) *servertest.Server {
	t.Helper()
	if err := uring.Supported(); err != nil {
		t.Skip(err)
	}
	return servertest.Start(t, servertest.Engine{Name: "uring", New: loop.NewUring}, s, o)
}

// patience is for what the race detector on a loaded machine takes long for.
const patience = 3 * time.Minute

// slow are limits of a server that is as patient.
func slow() weighstone.Options { return weighstone.Options{Limits: weighstone.Limits{Write: patience}} }

// dial connects a client that ends with the test and waits for nothing for ever.
func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

// replies reads n complete replies of status 200, and returns their bodies.
func replies(t *testing.T, r *bufio.Reader, n int) (bodies []string) {
	t.Helper()
	for i := range n {
		reply, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("reply %d of %d: %v", i, n, err)
		}
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("reply %d of %d: status %d, %v", i, n, reply.StatusCode, err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

// TestMoreBytesThanBuffers: clients send more at once than the receive buffers
// hold, so that receives end for want of them. All are answered.
func TestMoreBytesThanBuffers(t *testing.T) {
	const clients, requests = 60, 2000
	reached, release := make(chan struct{}), make(chan struct{})
	s := startUring(t, stopped(t, reached, release), slow())
	stop := dial(t, s.Addr)
	var conns []net.Conn
	for range clients {
		conns = append(conns, dial(t, s.Addr))
	}
	eventually(t, "all are accepted", func() bool { return s.Stats().Accepted == clients+1 })
	send(t, stop, servertest.Get("/stop")) // the loop does nothing until all have sent
	<-reached
	for _, c := range conns {
		send(t, c, strings.Repeat(servertest.Get("/"), requests))
	}
	close(release)
	for _, c := range conns {
		replies(t, bufio.NewReader(c), requests)
	}
}

// stopped is a site of which one page, /stop, keeps the loop itself from when
// reached is closed until release is; no handler should do that.
func stopped(t *testing.T, reached, release chan struct{}) *weighstone.Site {
	t.Helper()
	page := weighstone.NewPage("text/plain", time.Time{}, make([]byte, 100))
	s, err := weighstone.NewSite(0,
		weighstone.Route{Pattern: "/", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) })},
		weighstone.Route{Pattern: "/stop", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			close(reached)
			<-release
			x.SendPage(page)
		})})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPipelineWithoutReading: a client that sends requests and reads no reply is
// read from for no longer when its socket is full; then it gets all replies.
func TestPipelineWithoutReading(t *testing.T) {
	const requests = 2000
	page := weighstone.NewPage("text/plain", time.Time{}, make([]byte, 16_000)) // more than sockets hold, in all
	site, err := weighstone.NewSite(0, weighstone.Route{
		Pattern: "/", Methods: weighstone.GET,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := startUring(t, site, slow())
	c := dial(t, s.Addr)
	sent := make(chan error, 1)
	go func() {
		request := strings.Replace(servertest.Get("/"), "\r\n\r\n", "\r\nX-Much: "+strings.Repeat("x", 8000)+"\r\n\r\n", 1)
		_, err := io.WriteString(c, strings.Repeat(request, requests))
		sent <- err
	}()
	eventually(t, "the connection waits for its client", func() bool { return s.Stats().Conns[weighstone.StateWrite] == 1 })
	answered := s.Stats().Requests
	eventually(t, "no more is answered", func() bool {
		before := answered
		time.Sleep(20 * time.Millisecond)
		answered = s.Stats().Requests
		return answered == before
	})
	select {
	case err := <-sent:
		t.Fatalf("all %d requests were taken, %d answered, none read: %v", requests, answered, err)
	default:
	}
	r := bufio.NewReaderSize(c, 1<<20)
	for i := range requests {
		reply, err := http.ReadResponse(r, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
		}
		if err != nil {
			t.Fatalf("reply %d: %v", i, err)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestMoreThanMayBeAccepted: a multishot accept takes all connections that wait,
// more than there may be. They are served one after another, and a drain serves
// the rest.
func TestMoreThanMayBeAccepted(t *testing.T) {
	const bound, clients = 2, 20
	reached, release := make(chan struct{}), make(chan struct{})
	s := startUring(t, stopped(t, reached, release), weighstone.Options{Limits: weighstone.Limits{MaxConns: bound}})
	conns := []net.Conn{dial(t, s.Addr)}
	send(t, conns[0], servertest.Get("/stop")) // the loop accepts none until all are there
	<-reached
	for len(conns) < clients {
		c := dial(t, s.Addr)
		send(t, c, servertest.Get("/"))
		conns = append(conns, c)
	}
	close(release)
	for i, c := range conns[:clients/2] { // in turn, since the queue has an order
		replies(t, bufio.NewReader(c), 1)
		if st := s.Stats(); st.Accepted > uint64(bound+i) {
			t.Fatalf("%d connections accepted when %d had ended", st.Accepted, i)
		}
		c.Close()
	}
	drained := make(chan error, 1)
	go func() { drained <- s.Drain(context.Background()) }()
	for _, c := range conns[clients/2:] {
		replies(t, bufio.NewReader(c), 1)
		c.Close()
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestLentWhileReceiving: bytes that come while a connection goes to a goroutine
// and back reach neither too late nor the wrong reader.
func TestLentWhileReceiving(t *testing.T) {
	const rounds = 100
	s := startUring(t, site(t, func(x *weighstone.Exchange) {
		x.Scratch = append(x.Scratch, "waited for "...)
		x.Scratch = append(x.Scratch, x.In.Query...)
		x.SendScratch("text/plain")
	}), weighstone.Options{})
	c := dial(t, s.Addr)
	r := bufio.NewReader(c)
	for i := range rounds {
		text := servertest.Get(fmt.Sprintf("/wait?%d", i)) + servertest.Get("/") + servertest.Get(fmt.Sprintf("/wait?%d", -i)) + servertest.Get("/")
		for len(text) > 0 { // in pieces, each of another length
			n := min(len(text), 7+i)
			send(t, c, text[:n])
			text = text[n:]
		}
		got := replies(t, r, 4)
		page := string(make([]byte, 100))
		want := []string{fmt.Sprintf("waited for %d", i), page, fmt.Sprintf("waited for %d", -i), page}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("round %d, reply %d: %q, want %q", i, j, got[j], want[j])
			}
		}
	}
}

// TestPageInPieces: a page that no socket takes at once arrives whole.
func TestPageInPieces(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	page := weighstone.NewPage("text/plain", time.Time{}, body)
	site, err := weighstone.NewSite(0, weighstone.Route{
		Pattern: "/", Methods: weighstone.GET,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := startUring(t, site, weighstone.Options{})
	c := dial(t, s.Addr)
	send(t, c, servertest.Get("/")+servertest.Get("/")) // the second waits for the first
	eventually(t, "the connection waits for its client", func() bool { return s.Stats().Conns[weighstone.StateWrite] == 1 })
	for i, got := range replies(t, bufio.NewReaderSize(c, 1<<20), 2) {
		if got != string(body) {
			t.Errorf("reply %d differs", i)
		}
	}
}
