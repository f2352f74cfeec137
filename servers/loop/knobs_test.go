package loop_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// eventually waits until ok, for as long as anything may take.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestAcceptBatch: of the connections that wait, each event of the listening
// socket brings as many as the batch has; told once, it brings all.
func TestAcceptBatch(t *testing.T) {
	const waiting = 12
	for _, c := range []struct {
		batch  int
		edge   bool
		events uint64
	}{{1, false, 12}, {5, false, 3}, {-1, false, 1}, {5, true, 1}} {
		t.Run(fmt.Sprintf("%d, edge %v", c.batch, c.edge), func(t *testing.T) {
			fd, err := sys.Listen("127.0.0.1:0", 0, false)
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close(fd)
			for range waiting {
				conn, err := net.Dial("tcp", sys.LocalAddr(fd).String())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			server := loop.NewEpoll(weighstone.Options{Knobs: weighstone.Knobs{AcceptBatch: c.batch, EdgeTriggered: c.edge}})
			served := make(chan error)
			go func() { served <- server.Serve([]int{fd}, site(t, nil)) }()
			eventually(t, "all are accepted", func() bool { return server.Stats().Accepted == waiting })
			events := server.Stats().Events
			// An edge is told of each connection's room for output too, before
			// or after this look at the counters.
			if !c.edge && events != c.events || c.edge && events > c.events+waiting+1 {
				t.Errorf("%d events, want %d", events, c.events)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
			defer cancel()
			_ = server.Drain(ctx) // cut off: the clients have sent nothing
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// interests are what the epoll descriptors of this process, but for the
// runtime's own, ask of a descriptor, as the kernel lists them
// (proc_pid_fdinfo(5)).
func interests(t *testing.T, fd int) (events []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^tfd: +%d events: +([0-9a-f]+) `, fd))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(b), "tfd:") {
			continue
		}
		for _, m := range line.FindAllStringSubmatch(string(b), -1) {
			events = append(events, m[1])
		}
	}
	return events
}

// TestListenerInterest: two loops that share a listening socket ask for it in
// the way that the knobs say.
func TestListenerInterest(t *testing.T) {
	for name, c := range map[string]struct {
		knobs weighstone.Knobs
		flags uint32
	}{
		"plain":              {weighstone.Knobs{}, 0},
		"exclusive":          {weighstone.Knobs{Exclusive: true}, 1 << 28},
		"edge":               {weighstone.Knobs{EdgeTriggered: true}, 1 << 31},
		"exclusive and edge": {weighstone.Knobs{EdgeTriggered: true, Exclusive: true}, 1<<31 | 1<<28},
	} {
		t.Run(name, func(t *testing.T) {
			fd, err := sys.Listen("127.0.0.1:0", 0, false)
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close(fd)
			server := loop.NewEpoll(weighstone.Options{Workers: 2, Knobs: c.knobs})
			served := make(chan error)
			go func() { served <- server.Serve([]int{fd}, site(t, nil)) }()
			var got []string
			eventually(t, "both loops wait", func() bool {
				got = interests(t, fd)
				return len(got) == 2
			})
			for _, g := range got {
				var events uint32
				fmt.Sscanf(g, "%x", &events)
				if events&(1<<31|1<<28) != c.flags || events&1 == 0 {
					t.Errorf("a loop asks for %s, want EPOLLIN with %x", g, c.flags)
				}
			}
			for range 20 { // whichever loop is woken serves
				k := servertest.Dial(t, sys.LocalAddr(fd).String())
				k.Get("/", 200)
				k.Close()
			}
			if err := server.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}
