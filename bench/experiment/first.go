package experiment

import (
	"context"
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/internal/proc"
)

// A first is the first request by a cell's handler to a server that was started
// afresh.
type first struct {
	took   time.Duration
	before proc.Usage // of the server
}

// askFirst makes the request, if the cell wants it measured and none was made
// since its server started.
func (l *lab) askFirst(ctx context.Context, c *cell, base string) error {
	if _, asked := l.firsts[c]; !c.first || asked {
		return nil
	}
	before, err := c.subject.Usage()
	if err != nil {
		return nil // a server elsewhere: nothing is known of it
	}
	ctx, cancel := context.WithTimeout(ctx, 2*l.patience)
	defer cancel()
	began := time.Now()
	if _, err := subject.Fetch(ctx, base, c.proofs[0].path); err != nil {
		return fmt.Errorf("the first request: %w", err)
	}
	l.firsts[c] = first{time.Since(began), before}
	return nil
}

// addTo adds what the mechanism took to start to the server's side of a run, at
// whose end now was used.
func (f first) addTo(s *bench.Server[float64], now proc.Usage) {
	s.FirstMS = bench.Number(f.took.Seconds() * 1e3)
	grown := now.RSS - f.before.RSS
	s.WorkerBytes = bench.Number(float64(grown) / float64(max(1, now.Processes-f.before.Processes)))
}

// firsts says whether any cell wants its first request measured.
func (d *design) firsts() bool {
	for _, c := range d.cells() {
		if c.first {
			return true
		}
	}
	return false
}
