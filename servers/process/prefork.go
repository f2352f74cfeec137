package process

import (
	"fmt"

	"github.com/weighstone/weighstone"
)

// The numbers of a prefork server when nothing is said: Apache's.
const (
	DefaultStart    = 5
	DefaultMinSpare = 5
	DefaultMaxSpare = 10
	DefaultMax      = 256
)

// SoleEngine is what a worker is that carries one connection at a time; it has
// no variant of its own.
const SoleEngine = "sole"

// NewPrefork makes a server of processes that each carry one connection at a
// time in blocking calls, and wait for it in accept(2) on the same listening
// sockets. Their number follows the load: Options.Workers at the start, then so
// many that Knobs.MinSpare to MaxSpare of them are idle, within
// Knobs.MinWorkers and MaxWorkers. A zero of these means the default above, or
// what the others allow.
func NewPrefork(o weighstone.Options) weighstone.Server {
	b := preforkBounds(&o)
	o.Limits.MaxConns = 0 // it bounds the processes
	return newServer(o, model{
		variant: "prefork", engine: SoleEngine, bounds: b, shared: true, threads: 1,
		debug: "asyncpreemptoff=1", // or a signal would end each wait of 10 ms
	})
}

// preforkBounds settles the numbers from what was asked for.
func preforkBounds(o *weighstone.Options) bounds {
	k := &o.Knobs
	b := bounds{start: o.Workers, min: k.MinWorkers, max: k.MaxWorkers, minSpare: k.MinSpare, maxSpare: k.MaxSpare}
	if b.max == 0 {
		b.max = max(DefaultMax, b.start, b.min)
	}
	if most := o.Limits.MaxConns; most > 0 {
		b.max = min(b.max, most)
	}
	if b.min == 0 {
		b.min = 1
	}
	if b.start == 0 {
		b.start = DefaultStart
	}
	if b.minSpare == 0 {
		b.minSpare = DefaultMinSpare
		if b.maxSpare > 0 {
			b.minSpare = min(b.minSpare, b.maxSpare)
		}
	}
	if b.maxSpare == 0 {
		b.maxSpare = max(DefaultMaxSpare, b.minSpare)
	}
	b.min = min(b.min, b.max)
	b.start = min(max(b.start, b.min), b.max)
	return b
}

// PreforkKnobs tells the flags of a prefork server, as the table does.
func PreforkKnobs() []string {
	return []string{
		fmt.Sprintf("--workers: processes at the start, by default %d", DefaultStart),
		fmt.Sprintf("--min-spare: idle processes below which more are started, by default %d", DefaultMinSpare),
		fmt.Sprintf("--max-spare: idle processes above which they end one by one, by default %d", DefaultMaxSpare),
		"--min-workers: least number of processes, by default 1",
		fmt.Sprintf("--max-workers: largest number of processes, by default %d; what it can't take waits in the queue", DefaultMax),
	}
}
