package loop_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// site answers with a page at /, and with what handler sends at /wait.
func site(t *testing.T, handler weighstone.HandlerFunc) *weighstone.Site {
	t.Helper()
	page := weighstone.NewPage("text/plain", time.Time{}, make([]byte, 100))
	routes := []weighstone.Route{{
		Pattern: "/", Methods: weighstone.GET | weighstone.HEAD,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) }),
	}}
	if handler != nil {
		routes = append(routes, weighstone.Route{Pattern: "/wait", Methods: weighstone.GET, Waits: true, Handler: handler})
	}
	s, err := weighstone.NewSite(0, routes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSelectRefusesWhatItCantWaitFor: a connection whose descriptor has no bit
// in the sets is closed, the others go on, and the next is taken when there is
// a low descriptor again.
func TestSelectRefusesWhatItCantWaitFor(t *testing.T) {
	s := servertest.Start(t, servertest.Engine{Name: "select", New: loop.NewSelect}, site(t, nil), weighstone.Options{})
	first := servertest.Dial(t, s.Addr)
	first.Get("/", 200)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var taken []int
	defer func() {
		for _, fd := range taken {
			unix.Close(fd)
		}
	}()
	for { // every descriptor that select could take
		fd, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if fd >= sys.SetSize {
			unix.Close(fd)
			break
		}
		taken = append(taken, fd)
	}
	refused := servertest.Dial(t, s.Addr)
	refused.WantEnd(servertest.Closed)
	first.Get("/", 200)
	if st := s.Stats(); st.Accepted != 1 {
		t.Errorf("%d connections accepted, want 1", st.Accepted)
	}
	for _, fd := range taken {
		unix.Close(fd)
	}
	taken = nil
	first.Close() // accepting goes on
	servertest.Dial(t, s.Addr).Get("/", 200)
}
