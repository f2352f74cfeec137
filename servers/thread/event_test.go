package thread_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
	"github.com/weighstone/weighstone/servers/thread"
)

// TestIdleHoldNoThread: connections that have sent nothing, those that are kept,
// and those that we have closed and whose clients have not, hold no thread; one
// with half a head does. What has come meanwhile is answered when it is done.
func TestIdleHoldNoThread(t *testing.T) {
	page := weighstone.NewPage("text/plain", time.Time{}, []byte("here"))
	site, err := weighstone.NewSite(0, weighstone.Route{
		Pattern: "/", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, servertest.Engine{Name: "event-mpm", New: thread.NewEvent}, site,
		weighstone.Options{Workers: 1, Knobs: weighstone.Knobs{Queue: 2}})
	for range 20 {
		s.Dial(t) // and nothing more
		s.Dial(t).Get("/", http.StatusOK)
		closed := s.Dial(t)
		closed.Send("BAD\r\n\r\n")
		closed.Want("GET", http.StatusBadRequest)
	}
	request := servertest.Get("/")
	half := s.Dial(t)
	half.Send(request[:10])
	var others []*servertest.Client
	for range 10 {
		c := s.Dial(t)
		c.Send(request)
		others = append(others, c)
	}
	half.Send(request[10:])
	half.Want("GET", http.StatusOK)
	for _, c := range others {
		c.Want("GET", http.StatusOK)
	}
}
