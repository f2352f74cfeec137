// Package pace says when requests are due: pacers for closed and open loops.
//
// In a closed loop a client asks when its last reply has come, so a slow
// server is asked less. In an open loop requests come when they come, as those
// of many independent users do (Schroeder, Wierman and Harchol-Balter, "Open
// Versus Closed: A Cautionary Tale", NSDI 2006).
package pace

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weighstone/weighstone/bench"
)

// A Kind is how requests arrive.
type Kind string

// The kinds.
const (
	Closed   Kind = "closed"   // each client asks again after a reply; also the empty Kind
	Constant Kind = "constant" // at equal distances
	Poisson  Kind = "poisson"  // at random, independently of each other
)

// An Arrival describes the arrival of the requests of a whole run. Its zero
// value is a closed loop without think time.
type Arrival struct {
	Kind  Kind
	Think time.Duration // of a closed loop: each client's pause after a reply

	// Of an open loop: requests per second in all, at most [MaxRate]. With
	// Over, the rate goes from From to Rate in that time, then stays.
	Rate float64
	From float64
	Over time.Duration
	// Hold is how long the rate stays at From before it changes.
	Hold time.Duration

	Seed uint64 // of [Poisson]
}

// MaxRate is the highest rate: one request a microsecond.
const MaxRate = 1e6

// Open says whether requests come whatever the server does.
func (a *Arrival) Open() bool { return a.Kind != "" && a.Kind != Closed }

// String is the kind's name in every report.
func (a *Arrival) String() string {
	if a.Kind == "" {
		return string(Closed)
	}
	return string(a.Kind)
}

// Validate says what is wrong with the description.
func (a *Arrival) Validate() error {
	switch a.Kind {
	case "", Closed:
		if a.Rate != 0 || a.From != 0 || a.Over != 0 {
			return errors.New("arrival closed: a closed loop has no rate: the server sets it")
		}
		if a.Think < 0 {
			return fmt.Errorf("think time %v is negative", a.Think)
		}
		return nil
	case Constant, Poisson:
	default:
		return fmt.Errorf("arrival %q: expected %s, %s or %s", string(a.Kind), Closed, Constant, Poisson)
	}
	switch {
	case a.Think != 0:
		return fmt.Errorf("arrival %s: think time is for a closed loop", a.Kind)
	case !(a.Rate > 0 && a.Rate <= MaxRate):
		return fmt.Errorf("arrival %s: expected a rate above 0 and up to %.0f a second, but got %v", a.Kind, MaxRate, a.Rate)
	case a.Over < 0 || a.Hold < 0:
		return fmt.Errorf("arrival %s: a duration is negative", a.Kind)
	case a.Over > 0 && !(a.From > 0 && a.From <= MaxRate):
		return fmt.Errorf("arrival %s: expected a ramp that begins above 0 and up to %.0f a second, but got %v", a.Kind, MaxRate, a.From)
	}
	return nil
}

// Pacer returns the pacer of one of a number of workers, counted from 0: of a
// valid description. All workers together make the arrival described.
func (a *Arrival) Pacer(worker, workers int) bench.Pacer {
	switch a.Kind {
	case Constant:
		return &constant{curve: a.curve(), first: float64(worker), step: float64(workers)}
	case Poisson:
		return newPoisson(a.curve(), worker, workers, a.Seed)
	}
	return bench.Closed{Think: a.Think}
}

// Expected is how many requests are due within a time, on average; 0 for a
// closed loop.
func (a *Arrival) Expected(d time.Duration) float64 {
	if !a.Open() {
		return 0
	}
	c := a.curve()
	return c.count(d.Seconds())
}

// A curve is the number of requests due by a time, in seconds: a straight line
// with slope from until hold, a parabola for over, then a line with slope to.
type curve struct{ from, to, hold, over float64 }

func (a *Arrival) curve() curve {
	if a.Over == 0 {
		return curve{from: a.Rate, to: a.Rate}
	}
	return curve{a.From, a.Rate, a.Hold.Seconds(), a.Over.Seconds()}
}

func (c *curve) count(t float64) float64 {
	n := c.from * min(t, c.hold)
	if t > c.hold {
		u := min(t-c.hold, c.over)
		if u > 0 {
			n += c.from*u + (c.to-c.from)*u*u/(2*c.over)
		}
		n += c.to * max(t-c.hold-c.over, 0)
	}
	return n
}

// at is the time by which n requests are due: the inverse of count.
func (c *curve) at(n float64) time.Duration {
	held := c.from * c.hold
	if n <= held {
		return seconds(n / c.from)
	}
	n -= held
	ramped := (c.from + c.to) / 2 * c.over
	if n >= ramped {
		return seconds(c.hold + c.over + (n-ramped)/c.to)
	}
	// u of from*u + slope*u*u/2 = n, in the form that does not cancel.
	slope := (c.to - c.from) / c.over
	root := math.Sqrt(max(c.from*c.from+2*slope*n, 0))
	return seconds(c.hold + 2*n/(c.from+root))
}

func seconds(s float64) time.Duration {
	const farAway = float64(math.MaxInt64 / 2)
	return time.Duration(min(math.Round(s*1e9), farAway))
}
