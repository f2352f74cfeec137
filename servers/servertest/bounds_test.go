package servertest_test

import (
	"fmt"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestCloseAfter: a connection ends with its last request, of whatever kind,
// pipelined or not, and the reply says so.
func TestCloseAfter(t *testing.T) {
	stream := get("/test/stream")
	plain := get("/100.html")
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		for _, c := range []struct {
			after int
			sends []string
		}{
			{1, []string{plain}},
			{1, []string{stream}},
			{3, []string{plain, stream, plain}},
			{3, []string{get("/none"), plain, stream}},
			{2, []string{plain, get("/200k.bin")}},
			{2, []string{post("hello"), post("again")}},
			{3, []string{plain, plain, plain + plain}}, // the fourth is not answered
		} {
			t.Run(fmt.Sprintf("%d, %d sent", c.after, len(c.sends)), func(t *testing.T) {
				s, _ := suite(t, e, weighstone.Options{Knobs: weighstone.Knobs{CloseAfter: c.after}})
				k := s.Dial(t)
				for i, send := range c.sends {
					k.Send(send)
					r, err := k.Receive("GET")
					if err != nil {
						t.Fatal(err)
					}
					if closing := r.Get("Connection") == "close"; closing != (i == c.after-1 || e.Alone) {
						t.Errorf("reply %d of %d: Connection: %q", i+1, c.after, r.Get("Connection"))
					}
				}
				k.WantEnd(servertest.Closed)
			})
		}
	})
}

// TestConnsPerAddr: what one address has above its bound is closed at accept
// and counted; others are served, and it is again when a connection has ended.
func TestConnsPerAddr(t *testing.T) {
	const bound = 3
	onEach(t, func(t *testing.T, e servertest.Engine) {
		if v, err := servers.Find(e.Name); err != nil || !v.Has("--conns-per-addr") {
			return // what it lacks it refuses, as the scripts show
		}
		s, server := suite(t, e, weighstone.Options{Knobs: weighstone.Knobs{ConnsPerAddr: bound}})
		if e.Alone { // it never has as many
			for range bound + 1 {
				s.Dial(t).Get("/100.html", 200)
			}
			if st := server.Stats(); st.Refused != 0 || st.Accepted != bound+1 {
				t.Errorf("%d connections refused and %d accepted, want none and %d", st.Refused, st.Accepted, bound+1)
			}
			return
		}
		var within []*servertest.Client
		for range bound {
			c := s.Dial(t)
			c.Get("/100.html", 200)
			within = append(within, c)
		}
		for range 4 {
			s.Dial(t).WantEnd(servertest.Closed)
		}
		if st := server.Stats(); st.Refused != 4 || st.Accepted != bound {
			t.Errorf("%d connections refused and %d accepted, want 4 and %d", st.Refused, st.Accepted, bound)
		}
		other := servertest.DialFrom(t, "127.0.0.2", s.Addr)
		other.Get("/100.html", 200)
		for _, c := range within {
			c.Get("/100.html", 200)
		}
		within[0].Close()
		awaitConns(t, server, bound)
		s.Dial(t).Get("/100.html", 200)
	})
}
