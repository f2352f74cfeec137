package stage

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// await waits until ok, for as long as anything may take.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// held makes a stage whose threads wait, each with its batch, until let go.
func held(c Config) (s *Stage[int], batches chan []int, letGo chan struct{}) {
	batches, letGo = make(chan []int, 100), make(chan struct{})
	s = New(c, func() func([]int) {
		return func(batch []int) {
			batches <- append([]int(nil), batch...)
			<-letGo
		}
	})
	return s, batches, letGo
}

// TestFull: what the queue has no room for is refused, and what it took is
// worked off, in order and in batches.
func TestFull(t *testing.T) {
	s, batches, letGo := held(Config{Name: "test", Queue: 3, Batch: 2})
	s.Put(0)
	if b := <-batches; len(b) != 1 {
		t.Errorf("first batch %v, want one event", b)
	}
	for i := 1; i <= 3; i++ {
		if !s.Put(i) {
			t.Errorf("event %d refused by a queue with room", i)
		}
	}
	if s.Put(4) {
		t.Error("an event more than the queue holds was taken")
	}
	close(letGo)
	s.Close()
	if a, b := <-batches, <-batches; len(a) != 2 || a[0] != 1 || a[1] != 2 || len(b) != 1 || b[0] != 3 {
		t.Errorf("batches %v and %v, want [1 2] and [3]", a, b)
	}
}

// TestControl: the controller adds a thread while the queue is longer than the
// threshold, up to the bound, and those that have nothing to do end.
func TestControl(t *testing.T) {
	s, batches, letGo := held(Config{Name: "test", Queue: 100, Min: 1, Max: 3, Threshold: 2, Idle: time.Millisecond})
	var put atomic.Int64
	s.Put(0)
	<-batches
	s.Put(0)
	s.Put(0)
	if n := s.Threads(); n != 1 {
		t.Errorf("%d threads for a queue at its threshold, want 1", n)
	}
	await(t, "there are as many threads as there may be", func() bool {
		put.Add(1)
		s.Put(0)
		return s.Threads() == 3 || put.Load() > 90
	})
	for range 2 {
		<-batches // each of them has come to work
	}
	for range 4 {
		s.Put(0)
	}
	if n := s.Threads(); n != 3 {
		t.Errorf("%d threads, want 3", n)
	}
	close(letGo)
	await(t, "idle threads end", func() bool { return s.Threads() == 1 })
	s.Close()
}

// TestNames: the threads have the stage's name while it lasts.
func TestNames(t *testing.T) {
	named := func() (n int) {
		comms, _ := filepath.Glob("/proc/self/task/*/comm")
		for _, comm := range comms {
			if b, _ := os.ReadFile(comm); strings.TrimSpace(string(b)) == "stage of a test" {
				n++
			}
		}
		return n
	}
	s := New(Config{Name: "stage of a test", Min: 3}, func() func([]int) { return func([]int) {} })
	await(t, "three threads are named", func() bool { return named() == 3 })
	s.Close()
	if n := named(); n != 0 {
		t.Errorf("%d threads keep the name", n)
	}
}
