package experiment

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/internal/proc"
)

// explain says what the server used for each of n exchanges, of which bytes
// came back, when its CPU use a request is known.
func explain(used proc.Usage, cpuMicros float64, n uint64, bytes int64) *bench.Server[float64] {
	if n == 0 {
		return nil
	}
	per := func(total float64) *float64 { return bench.Number(total / float64(n)) }
	s := &bench.Server[float64]{
		VoluntarySwitches: per(float64(used.Voluntary)), InvoluntarySwitches: per(float64(used.Involuntary)),
		MinorFaults: per(float64(used.MinorFaults)), BytesPerReply: per(float64(bytes)),
		RSSBytes: bench.Number(float64(used.RSS)), Threads: bench.Number(float64(used.Threads)), Processes: bench.Number(float64(used.Processes)),
	}
	// The split comes in ticks, the sum in nanoseconds.
	if split := used.User + used.System; split > 0 {
		s.UserMicros = bench.Number(cpuMicros * float64(used.User) / float64(split))
		s.SystemMicros = bench.Number(cpuMicros * float64(used.System) / float64(split))
	}
	return s
}

// waits are the counters of a server's event loops.
type waits struct{ waits, events uint64 }

// waitsOf asks a server for its counters; false for one that has none.
func waitsOf(ctx context.Context, base string) (waits, bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	body, err := subject.Fetch(ctx, base, "/server-status")
	if err != nil {
		return waits{}, false
	}
	var status struct{ Waits, Events *uint64 }
	if json.Unmarshal(body, &status) != nil || status.Waits == nil || status.Events == nil {
		return waits{}, false
	}
	return waits{*status.Waits, *status.Events}, true
}

// per returns the events per wait since an earlier look, nil for no wait.
func (w waits) per(before waits) *float64 {
	if w.waits <= before.waits || w.events < before.events {
		return nil
	}
	return bench.Number(float64(w.events-before.events) / float64(w.waits-before.waits))
}

// A counting asks a server for its counters when a window begins and when it
// ends, beside the load and without holding it up: the two requests are among
// those that are counted, but thousands are. A nil counting asks nobody.
type counting struct {
	ctx   context.Context
	base  string
	asked sync.WaitGroup
	seen  [2]waits
	ok    [2]bool
}

func newCounting(ctx context.Context, base string) *counting { return &counting{ctx: ctx, base: base} }

// look asks at the beginning (0) or the end (1).
func (c *counting) look(at int) {
	if c != nil {
		c.asked.Go(func() { c.seen[at], c.ok[at] = waitsOf(c.ctx, c.base) })
	}
}

func (c *counting) wait() {
	if c != nil {
		c.asked.Wait()
	}
}

// perWait returns the events per wait in the window, nil when nobody knows.
func (c *counting) perWait() *float64 {
	c.wait()
	if c == nil || !c.ok[0] || !c.ok[1] {
		return nil
	}
	return c.seen[1].per(c.seen[0])
}

// summariseServer returns what the server used over the runs that count, nil
// where no run knows.
func summariseServer(runs []bench.Run) *bench.Server[bench.Metric] {
	any := false
	median := func(of func(*bench.Server[float64]) *float64) *bench.Metric {
		var xs []float64
		for i := range runs {
			r := &runs[i]
			if r.Discarded != "" || r.Error != "" || r.Server == nil {
				continue
			}
			if v := of(r.Server); v != nil {
				xs = append(xs, *v)
			}
		}
		if len(xs) == 0 {
			return nil
		}
		any = true
		return metricOf(stat.Median(xs))
	}
	type figures = bench.Server[float64]
	s := &bench.Server[bench.Metric]{
		UserMicros:          median(func(f *figures) *float64 { return f.UserMicros }),
		SystemMicros:        median(func(f *figures) *float64 { return f.SystemMicros }),
		VoluntarySwitches:   median(func(f *figures) *float64 { return f.VoluntarySwitches }),
		InvoluntarySwitches: median(func(f *figures) *float64 { return f.InvoluntarySwitches }),
		MinorFaults:         median(func(f *figures) *float64 { return f.MinorFaults }),
		RSSBytes:            median(func(f *figures) *float64 { return f.RSSBytes }),
		Threads:             median(func(f *figures) *float64 { return f.Threads }),
		Processes:           median(func(f *figures) *float64 { return f.Processes }),
		FirstMS:             median(func(f *figures) *float64 { return f.FirstMS }),
		WorkerBytes:         median(func(f *figures) *float64 { return f.WorkerBytes }),
		BytesPerReply:       median(func(f *figures) *float64 { return f.BytesPerReply }),
		EventsPerWait:       median(func(f *figures) *float64 { return f.EventsPerWait }),
	}
	if !any {
		return nil
	}
	return s
}

// warmups is the warm-up that was dropped, over the runs that count.
func warmups(runs []bench.Run) *bench.Metric {
	var xs []float64
	for i := range runs {
		if runs[i].Discarded == "" && runs[i].Error == "" {
			xs = append(xs, runs[i].WarmupS)
		}
	}
	if len(xs) == 0 {
		return nil
	}
	return metricOf(stat.Median(xs))
}
