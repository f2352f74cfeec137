package tally

import (
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"pgregory.net/rapid"
)

// TestRelayLosesNothing has a worker hand over stretches at random and a
// collector take them or not; in the end all is there, exactly once.
func TestRelayLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Classes: 3, From: 10 * time.Second}
		all, part, sum := New(c), New(c), New(c)
		relay := NewRelay(c.From)
		var good, faults uint64
		now, end := c.From, c.From
		take := func() {
			if iv := relay.Take(); iv != nil {
				if iv.From != end || iv.To < iv.From {
					t.Fatalf("stretch from %v to %v after one to %v", iv.From, iv.To, end)
				}
				end = iv.To
				good, faults = good+iv.Good, faults+iv.Faults
				sum.Absorb(iv)
				relay.Return(iv)
			}
		}
		for _, s := range rapid.SliceOfN(anySample(), 0, 30).Draw(t, "samples") {
			all.Add(&s)
			part.Add(&s)
			now += time.Second
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				relay.Turn(part, now)
			case 1:
				take()
			}
		}
		take()
		relay.Turn(part, now)
		take()
		sum.Merge(part)
		if good != all.Latency.N || faults != all.Faults.Total() {
			t.Fatalf("%d good and %d faulty were handed over, want %d and %d", good, faults, all.Latency.N, all.Faults.Total())
		}
		same(t, all, sum)
	})
}

// TestRelayBetweenThreads hands over while both sides run.
func TestRelayBetweenThreads(t *testing.T) {
	const samples = 100000
	part, sum := New(Config{Classes: 1}), New(Config{Classes: 1})
	relay := NewRelay(0)
	done := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			if iv := relay.Take(); iv != nil {
				sum.Absorb(iv)
				relay.Return(iv)
				continue
			}
			select {
			case <-done:
				return
			default:
				time.Sleep(10 * time.Microsecond)
			}
		}
	})
	for i := range samples {
		part.Add(&bench.Sample{Last: time.Duration(i) * time.Microsecond})
		if i%100 == 0 {
			relay.Turn(part, time.Duration(i))
		}
	}
	close(done)
	collector.Wait()
	if iv := relay.Take(); iv != nil {
		sum.Absorb(iv)
	}
	sum.Merge(part)
	if n := sum.Latency.Hist.TotalCount(); n != samples || sum.Latency.N != samples {
		t.Errorf("%d samples in the histogram, %d counted, want %d", n, sum.Latency.N, samples)
	}
}
