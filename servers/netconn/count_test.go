package netconn_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"), // for life
	)
}

// TestCounters compares what a server counts with what its clients saw.
func TestCounters(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		slots := []*weighstone.Slot{new(weighstone.Slot), new(weighstone.Slot)}
		log := new(accessLog)
		s := run(t, newServer(weighstone.Options{Slots: slots, Access: log}), newSite(t).Site)
		var received int
		for range 4 {
			c := s.client(t)
			for _, target := range []string{"/page", "/scratch", "/file", "/stream", "/missing"} {
				c.send(t, request("GET", target, "1.1", ""))
			}
			c.send(t, "nonsense\r\n\r\n")
			b, err := io.ReadAll(c.r)
			if err != nil {
				t.Fatal(err)
			}
			received += len(b)
			_ = c.Close()
		}
		s.stop(t)
		st := s.Stats()
		if st.Accepted != 4 || st.Requests != 24 || st.Responses[2] != 16 || st.Responses[4] != 8 || st.BytesSent != uint64(received) {
			t.Errorf("counted %+v, of %d bytes", st, received)
		}
		if st.Conns != [weighstone.NumStates]int64{} {
			t.Errorf("connections left: %v", st.Conns)
		}
		for i, slot := range slots {
			if slot.Accepted.Load() != 2 {
				t.Errorf("slot %d has %d connections", i, slot.Accepted.Load())
			}
		}
		if log.lines != 24 || log.sent != 4*(100+100+1<<20-32+100+14+16) {
			t.Errorf("logged %d exchanges of %d bytes", log.lines, log.sent)
		}
	})
}

// An accessLog counts.
type accessLog struct {
	mu    sync.Mutex
	lines int
	sent  int64
}

func (l *accessLog) Exchange(x *weighstone.Exchange, _ int, sent int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.In.Remote.IsValid() {
		l.lines++
	}
	l.sent += sent
}

// TestNothingLeft counts descriptors after connections that ended in all ways.
func TestNothingLeft(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		site := newSite(t)
		run(t, newServer(weighstone.Options{}), site.Site).client(t).get(t, "/page") // the runtime's own
		before := descriptors(t)
		t.Run("run", func(t *testing.T) {
			s := run(t, newServer(weighstone.Options{}), site.Site)
			for i := range 100 {
				c := s.client(t)
				whole := request("GET", "/large-file", "1.1", "")
				c.send(t, whole[:len(whole)*(i%5)/4])
				if i%5 == 4 && i%3 == 0 {
					_, _ = c.r.Peek(1)
				}
				_ = c.SetLinger(0)
				_ = c.Close()
			}
		})
		for range 100 { // a file is closed after its connection
			if descriptors(t) <= before {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("%d descriptors, %d before", descriptors(t), before)
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestDescriptorsRunOut lets a connection wait until there are descriptors
// again. That accepting rests meanwhile shows in that it is said once.
func TestDescriptorsRunOut(t *testing.T) {
	onEach(t, func(t *testing.T, newServer func(weighstone.Options) weighstone.Server) {
		warned := make(chan string, 100)
		o := weighstone.Options{Log: slog.New(&warnings{Handler: slog.DiscardHandler, said: warned})}
		o.Limits.MaxConns = 1000
		s := run(t, newServer(o), newSite(t).Site)
		s.client(t).get(t, "/page") // all is set up

		client, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(client)
		release := exhaust(t)
		defer release()
		addr, err := syscall.Getsockname(s.fd)
		if err == nil {
			err = syscall.Connect(client, addr)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := <-warned; said != "accept paused" {
			t.Errorf("said %q", said)
		}
		time.Sleep(200 * time.Millisecond)
		release()
		if _, err := syscall.Write(client, []byte(request("GET", "/page", "1.1", ""))); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := syscall.Read(client, buf)
		if err != nil || !bytes.HasPrefix(buf[:n], []byte("HTTP/1.1 200 ")) {
			t.Errorf("%q, %v", buf[:n], err)
		}
		if len(warned) > 0 {
			t.Errorf("said %d times more", len(warned))
		}
	})
}

// exhaust uses up the descriptors until release is called.
func exhaust(t *testing.T) (release func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var taken []int
	for {
		fd, err := syscall.Dup(0)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			for _, fd := range taken {
				_ = syscall.Close(fd)
			}
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
				t.Error(err)
			}
		})
	}
}

// warnings hands messages of at least that level to a channel.
type warnings struct {
	slog.Handler
	said chan string
}

func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	w.said <- r.Message
	return nil
}
