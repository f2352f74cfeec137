package loop

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/stage"
)

// holdingSite answers /hold when it is let go, and says when it is asked.
func holdingSite(t *testing.T) (site *weighstone.Site, asked, letGo chan struct{}) {
	t.Helper()
	asked, letGo = make(chan struct{}, 1000), make(chan struct{})
	site, err := weighstone.NewSite(0, weighstone.Route{
		Pattern: "/hold", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			asked <- struct{}{}
			<-letGo
			x.Scratch = append(x.Scratch[:0], "held"...)
			x.SendScratch("text/plain")
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return site, asked, letGo
}

// reply reads the one reply on a connection, to its end.
func reply(t *testing.T, c net.Conn) (res *http.Response, body string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// staged makes a server, whose stages it sends when they are made.
func staged(k weighstone.Knobs) (s *server, made chan *network) {
	s, made = NewStaged(weighstone.Options{Knobs: k}).(*server), make(chan *network, 1)
	s.network = func(k weighstone.Knobs) *network {
		n := newNetwork(k)
		made <- n
		return n
	}
	return s, made
}

func refused(t *testing.T, c net.Conn) {
	t.Helper()
	if res, _ := reply(t, c); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" || !res.Close {
		t.Errorf("status %d, closing %v, with %v; want 503, to be asked again after a second, and an end", res.StatusCode, res.Close, res.Header)
	}
}

// TestStageFull: what finds the handlers' queue full is answered 503, and what is
// in it is answered in the end.
func TestStageFull(t *testing.T) {
	s, made := staged(weighstone.Knobs{Queue: 1, MaxWorkers: 1})
	site, asked, letGo := holdingSite(t)
	addr := run(t, s, site)
	stages := <-made
	first := ask(t, addr, "/hold")
	<-asked
	second := ask(t, addr, "/hold")
	await(t, "the second waits", func() bool { return stages.handle.Waiting() == 1 })
	refused(t, ask(t, addr, "/hold"))
	close(letGo)
	for _, c := range []net.Conn{first, second} {
		if res, body := reply(t, c); res.StatusCode != http.StatusOK || body != "held" {
			t.Errorf("status %d, %q", res.StatusCode, body)
		}
	}
	if n := s.Stats().Responses[5]; n != 1 {
		t.Errorf("%d replies counted as 5xx, want 1", n)
	}
}

// TestFirstStageFull: what finds the first queue full is answered 503 by the loop
// itself, without being parsed.
func TestFirstStageFull(t *testing.T) {
	s := NewStaged(weighstone.Options{Knobs: weighstone.Knobs{Queue: 1, MaxWorkers: 1}}).(*server)
	letGo, taken, made := make(chan struct{}), make(chan struct{}, 100), make(chan *network, 1)
	s.network = func(k weighstone.Knobs) *network {
		n := newNetwork(k)
		n.parse.Close()
		n.parse = stage.New(stage.Config{Name: "parse", Queue: 1}, func() func([]*job) {
			return func(batch []*job) {
				taken <- struct{}{}
				<-letGo
				n.parseOne(batch[0])
			}
		})
		made <- n
		return n
	}
	site, _, hold := holdingSite(t)
	close(hold)
	addr := run(t, s, site)
	stages := <-made
	first := ask(t, addr, "/hold")
	<-taken
	second := ask(t, addr, "/hold")
	await(t, "the second waits", func() bool { return stages.parse.Waiting() == 1 })
	refused(t, ask(t, addr, "/hold"))
	close(letGo)
	for _, c := range []net.Conn{first, second} {
		if res, body := reply(t, c); res.StatusCode != http.StatusOK || body != "held" {
			t.Errorf("status %d, %q", res.StatusCode, body)
		}
	}
}

// TestStagesGrow: while handlers keep their threads and the queue gets long, the
// controller adds threads to the one there is.
func TestStagesGrow(t *testing.T) {
	s, made := staged(weighstone.Knobs{MaxWorkers: 3})
	site, asked, letGo := holdingSite(t)
	addr := run(t, s, site)
	stages := <-made
	var conns []net.Conn
	for range 3 * (stageThreshold + 2*stageBatch) {
		conns = append(conns, ask(t, addr, "/hold"))
	}
	await(t, "three threads handle", func() bool { return len(asked) == 3 && stages.handle.Threads() == 3 })
	close(letGo)
	for _, c := range conns {
		if res, _ := reply(t, c); res.StatusCode != http.StatusOK {
			t.Errorf("status %d", res.StatusCode)
		}
	}
}
