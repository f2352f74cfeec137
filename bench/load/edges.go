package load

import "time"

// edges are when the measured window begins and ends, for those who want to
// be told. The goroutine that called Run owns it.
type edges struct {
	begin *time.Timer
	end   <-chan time.Time // nil for a run that ends with its last request
	timer *time.Timer      // behind end

	toldBegin, toldEnd bool
}

// edges sets the timers of a run that starts now.
func (r *run) edges() *edges {
	until := func(d time.Duration) time.Duration { return time.Until(r.start.Add(d)) }
	e := &edges{begin: time.NewTimer(until(r.config.Warmup))}
	if r.config.Duration > 0 {
		e.timer = time.NewTimer(until(r.config.Warmup + r.config.Duration))
		e.end = e.timer.C
	}
	return e
}

func (e *edges) stop() {
	e.begin.Stop()
	if e.timer != nil {
		e.timer.Stop()
	}
}

// begun tells of the beginning, once.
func (e *edges) begun(c *Config) {
	if !e.toldBegin && c.Begin != nil {
		c.Begin()
	}
	e.toldBegin = true
}

// ended tells of the end, once, and of the beginning if the run did not last
// as long as that.
func (e *edges) ended(c *Config) {
	e.begun(c)
	if !e.toldEnd && c.End != nil {
		c.End()
	}
	e.toldEnd = true
}
