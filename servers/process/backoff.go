package process

import "time"

// A backoff spaces the replacements of workers that die, so that a worker that
// can't live costs the machine nothing, while one crash is made good at once.
type backoff struct {
	rest  time.Duration // after the next death
	until time.Time     // when the next worker may start
}

const (
	firstRest = 100 * time.Millisecond
	maxRest   = 10 * time.Second

	// shortage is how long to rest when the machine has no room for a worker.
	shortage = time.Second

	// proven is the age from which a worker's death says nothing about the
	// next one's chances.
	proven = 5 * time.Second
)

// died takes note of a death at this age.
func (b *backoff) died(now time.Time, age time.Duration) {
	if age >= proven {
		*b = backoff{}
		return
	}
	b.rest = min(max(2*b.rest, firstRest), maxRest)
	b.until = now.Add(b.rest)
}

// pause takes note of a worker that could not be started.
func (b *backoff) pause(now time.Time) { b.until = now.Add(shortage) }

// wait is how long not to start a worker yet; 0 for not at all.
func (b *backoff) wait(now time.Time) time.Duration { return max(b.until.Sub(now), 0) }
