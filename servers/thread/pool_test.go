package thread

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

func TestPoolSize(t *testing.T) {
	for _, c := range []struct {
		workers, least, most int
		want                 Size
	}{
		{0, 0, 0, Size{32, 32, 64}},
		{1, 0, 0, Size{1, 1, 1}}, // as in each process of a pool of processes
		{8, 0, 0, Size{8, 8, 16}},
		{8, 2, 0, Size{8, 2, 16}},
		{8, 2, 10, Size{8, 2, 10}},
		{0, 2, 10, Size{10, 2, 10}},
		{0, 100, 0, Size{100, 100, 200}},
		{1, 1, 4, Size{1, 1, 4}},
	} {
		if got := PoolSize(c.workers, weighstone.Knobs{MinWorkers: c.least, MaxWorkers: c.most}); got != c.want {
			t.Errorf("%d workers, %d at least, %d at most: %+v, want %+v", c.workers, c.least, c.most, got, c.want)
		}
	}
}

// threadsOf is how many threads a pool has.
func (p *pool) threadsOf() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// awaitThreads waits until a pool has n threads.
func awaitThreads(t *testing.T, p *pool, n int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if p.threadsOf() == n {
			return
		}
	}
	t.Fatalf("the pool has %d threads, want %d", p.threadsOf(), n)
}

// TestPoolGrowsAndShrinks: a pool has a thread that waits, as long as it may
// have more, and lets go of those it has to spare.
func TestPoolGrowsAndShrinks(t *testing.T) {
	site, err := weighstone.NewSite(0)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close(fd)
	p := newPool(weighstone.Options{}, Size{Initial: 2, Min: 2, Max: 4})
	served := make(chan error)
	go func() { served <- p.Serve([]int{fd}, site) }()
	awaitThreads(t, p, 2)
	var conns []net.Conn
	for _, want := range []int{2, 3, 4, 4, 4} {
		c, err := net.Dial("tcp", sys.LocalAddr(fd).String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		awaitThreads(t, p, want)
	}
	for _, c := range conns {
		c.Close()
	}
	awaitThreads(t, p, 2)
	if err := p.Drain(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestTooManyThreads: what Go would end the program for is refused.
func TestTooManyThreads(t *testing.T) {
	site, err := weighstone.NewSite(0)
	if err != nil {
		t.Fatal(err)
	}
	many := weighstone.Options{Workers: MaxThreads + 1, Limits: weighstone.Limits{MaxConns: 2 * MaxThreads}}
	for name, server := range map[string]weighstone.Server{"pool": NewPool(many), "each": NewEach(many), "queue": NewQueue(many)} {
		fd, err := sys.Listen("127.0.0.1:0", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Serve([]int{fd}, site); err == nil {
			t.Errorf("%s serves with more than %d threads", name, MaxThreads)
		}
		sys.Close(fd)
	}
}
