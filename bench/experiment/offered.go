package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/subject"
)

// Where a comparison is made: CPU a request depends on how many events a wait
// returns, and so on how busy a server is. At saturation the slower of two has
// the deeper batches, which flatters it; at the same offered rate both have
// what their own speed gives them.
const (
	atSaturation = "saturated"
	atSameRate   = "same offered rate"
)

// sameRate adds, for cells that a design compares by CPU, a unit in which each
// is offered the same: an open loop with random arrivals at half of what the
// slowest can do, found by a pilot run. compare gets the comparisons of the
// given ones there, and those are marked as made at saturation. Servers whose
// CPU use nobody knows are left out.
func (d *design) sameRate(cells []*cell, saturated ...int) {
	d.atRate("same rate", cells, saturated...)
}

// atRate is sameRate with another name for it: a design with very different
// servers has several rates.
func (d *design) atRate(name string, cells []*cell, saturated ...int) {
	open := map[*cell]*cell{}
	cells = slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool {
		local, here := c.subject.(*subject.Local)
		return !here || !local.Counted()
	})
	if len(cells) < 2 {
		return
	}
	var unit []*cell
	for _, c := range cells {
		o := *c
		o.name += ", " + name
		o.load.half = cells
		o.claims = claimCPU
		open[c] = &o
		unit = append(unit, &o)
	}
	d.units = append(d.units, unit)
	for _, i := range saturated {
		same := d.compare[i]
		if open[same.a] == nil || open[same.b] == nil {
			continue
		}
		d.compare[i].at = atSaturation
		same.name += ", " + name
		same.a, same.b = open[same.a], open[same.b]
		same.at, same.saturated = atSameRate, i+1
		same.published, same.source = 0, "" // published figures are of busy servers
		d.compare = append(d.compare, same)
	}
}

// A pilot makes so many runs of this length, each after a warm-up of a quarter,
// and takes the fastest: it only chooses a load, and a machine that stood still
// for a moment should not choose it.
const (
	pilotRuns = 3
	pilotTime = 200 * time.Millisecond
)

// pilots are the cells that need a pilot run.
func (d *design) pilots() map[*cell]bool {
	need := map[*cell]bool{}
	for _, c := range d.cells() {
		for _, h := range c.load.half {
			need[h] = true
		}
	}
	return need
}

// pilotCost is what the pilot run of a cell takes, about.
func (c *cell) pilotCost() time.Duration {
	short := *c
	short.load.warmup, short.load.duration = pilotTime/4, pilotTime
	return pilotRuns * short.took()
}

// pilot finds out what the slowest of the cells can do that an open loop is to
// offer half of.
func (s *session) pilot(ctx context.Context) error {
	rates := map[*cell]float64{}
	for _, c := range s.design.cells() {
		if len(c.load.half) == 0 {
			continue
		}
		least := math.Inf(1)
		for _, h := range c.load.half {
			if rates[h] == 0 {
				s.tell(StagePilot, h.name)
				rate, err := s.lab.peak(ctx, h)
				if err != nil {
					return fmt.Errorf("%s: %w", h.name, err)
				}
				rates[h] = rate
				s.clock.spent += h.pilotCost()
			}
			least = min(least, rates[h])
		}
		c.load.arrival = pace.Arrival{Kind: pace.Poisson, Rate: math.Max(1, roundRate(least/2)), Seed: s.lab.Seed}
	}
	return nil
}

// peak is the rate of a cell in short closed loops.
func (l *lab) peak(ctx context.Context, c *cell) (float64, error) {
	short := *c
	short.load.warmup, short.load.duration = pilotTime/4, pilotTime
	best, empty := 0.0, 0
	for range pilotRuns {
		run, err := l.measure(ctx, &short)
		if errors.Is(err, errEmpty) && empty < emptyRuns {
			empty++
			continue
		}
		if err != nil {
			return 0, err
		}
		best = max(best, *run.RequestsPerS)
	}
	return best, nil
}

// roundRate keeps two digits: more would feign that the half is exact.
func roundRate(rate float64) float64 {
	if rate < 10 {
		return math.Round(rate)
	}
	unit := math.Pow(10, math.Floor(math.Log10(rate))-1)
	return math.Round(rate/unit) * unit
}

// open says whether requests come whatever the server does.
func (s *setting) open() bool { return len(s.half) > 0 || s.arrival.Open() }

// offered is the load as documents have it.
func (s *setting) offered() bench.Load {
	l := bench.Load{Clients: s.clients, Keepalive: s.keepalive, Arrival: s.arrival.String(), Idle: s.idle}
	if s.open() {
		l.Arrival = string(pace.Poisson)
		if s.arrival.Rate > 0 {
			l.Arrival, l.Rate = s.arrival.String(), bench.Number(s.arrival.Rate)
		}
	}
	if s.planName != "" {
		l.Plan = &s.planName
	}
	return l
}
