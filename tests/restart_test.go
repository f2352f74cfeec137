package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A place is what a server under restarts serves.
type place struct {
	root, programs string
	small, large   []byte // of /small.txt and /large.bin
}

// slowReply is what the program /cgi-bin/slow answers after a while.
const slowReply = "slow but sure\n"

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{root: t.TempDir(), programs: t.TempDir(), small: pattern(100), large: pattern(200 << 10)}
	script := "#!/bin/sh\nsleep 0.7\nprintf 'Content-Type: text/plain\\n\\n" + `slow but sure\n` + "'\n"
	for _, f := range []struct {
		path string
		b    []byte
		mode os.FileMode
	}{
		{filepath.Join(p.root, "small.txt"), p.small, 0o644},
		{filepath.Join(p.root, "large.bin"), p.large, 0o644},
		{filepath.Join(p.programs, "slow"), []byte(script), 0o755},
	} {
		if err := os.WriteFile(f.path, f.b, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'A' + byte(i*7%26)
	}
	return b
}

// restarts is how often a variant is restarted.
func restarts() int {
	switch {
	case os.Getenv("WEIGHSTONE_SOAK") != "":
		return 50
	case os.Getenv("CI") == "true" && len(buildFlags) == 0: // not for the race detector, which needs few
		return 10
	}
	return 3
}

// TestRestart restarts each variant under load. No client tries anything
// twice, and none may notice.
func TestRestart(t *testing.T) {
	onFamilies(t, func(t *testing.T, variant string) {
		p := newPlace(t)
		flags := []string{"--root", p.root, "--cgi-bin", p.programs}
		if rowOf(t, variant).Family == "event" { // two loops: each has a listener and a queue of its own to lose
			flags = append(flags, "--workers", "2")
		}
		s := serve(t, variant, flags...)
		load := startLoad(s.addr, p)
		row := rowOf(t, variant)
		for i := range restarts() {
			f := beginFlights(t, s, p, row, i)
			old := s.restart()
			f.land(t)
			s.reap(old)
		}
		load.stop(t)

		// The end is a drain too.
		f := beginFlights(t, s, p, row, 0)
		done := make(chan struct{})
		go func() { f.land(t); close(done) }()
		s.stop()
		<-done
	})
}

// TestCutOff: when the time to drain is over, what is left is cut off, and the
// process ends as it was told to.
func TestCutOff(t *testing.T) {
	onFamilies(t, func(t *testing.T, variant string) {
		p := newPlace(t)
		s := serve(t, variant, "--root", p.root, "--cgi-bin", p.programs, "--drain", "300ms")
		for _, half := range []string{
			"GET /small.txt HTT",
			"POST /api/mirror HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello",
			get("/cgi-bin/slow"),
		} {
			c, err := dial(s.addr, false)
			if err == nil {
				err = c.send(half)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
		}
		time.Sleep(100 * time.Millisecond) // so that all of them are at it
		s.stop()
	})
}

// Flights are clients with something under way while the server is replaced.
type flights struct {
	all []flight
}

// A flight is one of them: what it is, and how it goes on afterwards.
type flight struct {
	name string
	*client
	rest string // still to be sent
	body []byte // of the reply
}

// queued is how many connections wait in the accept queue.
const queued = 20

// beginFlights has clients do the first half of what they do: a request half
// sent, a reply half read, a program at work. Then the server is stopped, so
// that connections wait in its queue, until it is told to restart or end.
// A server that serves one connection at a time has one of these clients, by
// turns, in front of its queue.
func beginFlights(t *testing.T, s *server, p *place, row row, turn int) *flights {
	t.Helper()
	f := new(flights)
	add := func(name, first, rest string, body []byte, small bool) {
		c, err := dial(s.addr, small)
		if err == nil {
			err = c.send(first)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.all = append(f.all, flight{name, c, rest, body})
	}
	whole := get("/small.txt")
	body := string(p.large[:1000])
	post := fmt.Sprintf("POST /api/mirror HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for i, begin := range []func(){
		func() { add("a request half sent", whole[:len(whole)/2], whole[len(whole)/2:], p.small, false) },
		func() { add("a body half sent", post[:len(post)-500], post[len(post)-500:], []byte(body), false) },
		func() {
			add("a reply half read", get("/large.bin"), "", p.large, true)
			if _, err := f.all[len(f.all)-1].in.Peek(2000); err != nil {
				t.Fatalf("a reply half read: %v", err)
			}
		},
		func() { add("a program at work", get("/cgi-bin/slow"), "", []byte(slowReply), false) },
		func() {
			const name = "a head half sent behind an answered request"
			add(name, whole+whole[:len(whole)/2], whole[len(whole)/2:], p.small, false)
			if _, err := f.all[len(f.all)-1].receive(p.small); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		},
	} {
		if row.Keepalive || i == turn%4 { // the fifth keeps its connection
			begin()
		}
	}
	time.Sleep(200 * time.Millisecond) // so that it is at work
	serving := pause(t, s.pid)
	for range queued {
		add("a connection in the queue", whole, "", p.small, false)
	}
	time.AfterFunc(100*time.Millisecond, func() {
		for _, pid := range serving {
			syscall.Kill(pid, syscall.SIGCONT)
		}
	})
	return f
}

// pause stops the processes that serve: first the one that may start others. A
// worker that is for one connection may be gone meanwhile.
func pause(t *testing.T, pid int) (stopped []int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	all := processes(t, pid)
	for _, worker := range all[1:] {
		if err := syscall.Kill(worker, syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
	return all
}

// land has the clients finish. All of them must get what they asked for.
func (f *flights) land(t *testing.T) {
	t.Helper()
	for _, c := range f.all {
		err := c.send(c.rest)
		if err == nil {
			_, err = c.receive(c.body)
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		c.close()
	}
}

// A load is a number of clients that ask and ask.
type load struct {
	ending   atomic.Bool
	clients  sync.WaitGroup
	answered atomic.Int64

	mu   sync.Mutex
	errs []error
}

// loadClients is how many there are of each kind.
const loadClients = 4

// startLoad starts clients that keep their connections, as long as they may,
// and clients that do not.
func startLoad(addr string, p *place) *load {
	l := new(load)
	for range loadClients {
		for _, keep := range []bool{true, false} {
			l.clients.Go(func() {
				for !l.ending.Load() {
					if err := l.connection(addr, p, keep); err != nil {
						l.mu.Lock()
						l.errs = append(l.errs, err)
						l.mu.Unlock()
					}
				}
			})
		}
	}
	return l
}

// connection asks on one connection until a reply says that it is the last.
func (l *load) connection(addr string, p *place, keep bool) error {
	c, err := dial(addr, false)
	if err != nil {
		return err
	}
	defer c.close()
	for n := 0; !l.ending.Load(); n++ {
		if err := c.send(get("/small.txt")); err != nil {
			return fmt.Errorf("request %d of a connection: %w", n, err)
		}
		again, err := c.receive(p.small)
		if err != nil {
			return fmt.Errorf("request %d of a connection: %w", n, err)
		}
		l.answered.Add(1)
		if !again || !keep {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// stop ends the load. None of its clients may have had an error.
func (l *load) stop(t *testing.T) {
	t.Helper()
	l.ending.Store(true)
	l.clients.Wait()
	t.Logf("%d requests were answered", l.answered.Load())
	for i, err := range l.errs {
		if i == 10 {
			t.Errorf("and %d more", len(l.errs)-i)
			break
		}
		t.Error(err)
	}
}
