package loop

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// TestDrainBeforeServe: a drain that comes before the loops are made takes what
// waits in the queue, and ends.
func TestDrainBeforeServe(t *testing.T) {
	for name, make := range map[string]func(weighstone.Options) weighstone.Server{"epoll": NewEpoll, "poll": NewPoll, "select": NewSelect} {
		t.Run(name, func(t *testing.T) {
			fd, err := sys.Listen("127.0.0.1:0", 0, false)
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close(fd)
			c, err := net.Dial("tcp", sys.LocalAddr(fd).String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.Write([]byte("GET /none HTTP/1.1\r\nHost: a\r\n\r\n"))
			site, err := weighstone.NewSite(0)
			if err != nil {
				t.Fatal(err)
			}
			s := make(weighstone.Options{})
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			drained := start(func() error { return s.Drain(ctx) })
			// The state that Drain leaves, whatever comes first.
			for !s.(*server).toldToDrain() {
				time.Sleep(time.Millisecond)
			}
			served := start(func() error { return s.Serve([]int{fd}, site) })
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			b := [12]byte{}
			if _, err := c.Read(b[:]); err != nil || string(b[:]) != "HTTP/1.1 404" {
				t.Errorf("%q, %v", b, err)
			}
			c.Close() // or the server would wait for the rest
			if err := <-drained; err != nil {
				t.Errorf("drain: %v", err)
			}
			if err := <-served; err != nil {
				t.Errorf("serve: %v", err)
			}
		})
	}
}

// start runs a call beside the test.
func start(call func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

func (s *server) toldToDrain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}
