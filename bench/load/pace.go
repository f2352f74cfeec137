package load

import (
	"time"

	"github.com/weighstone/weighstone/bench"
)

// pumpOnly marks an appointment for exchanges that are under way already and
// need a connection again.
const pumpOnly time.Duration = -1

// free hands a place in c's pipeline, free since done, to the next request:
// begun at once when it is due, unless it must go through the schedule.
func (w *worker) free(c *client, done time.Duration, scheduled bool) {
	if w.run.stopped.Load() || !w.allowed() {
		w.busy--
		return
	}
	due, more := w.pacer.Due(w.asked, done)
	if !more || w.until > 0 && due >= w.until {
		w.busy--
		return
	}
	w.asked++
	at := max(due, done)
	if scheduled || at > w.now {
		w.later.push(appointment{at: at, due: due, client: c.index})
		return
	}
	w.begin(c, due)
}

// allowed takes one request from the budget. Those of the warm-up are not part
// of it.
func (w *worker) allowed() bool {
	if w.config.Requests == 0 || w.now < w.from {
		return true
	}
	if w.share == 0 {
		w.share = w.run.budget.take()
	}
	if w.share == 0 {
		return false
	}
	w.share--
	return true
}

// keep begins what was scheduled.
func (w *worker) keep(a appointment) {
	c := &w.clients[a.client]
	if a.due == pumpOnly {
		w.pump(c)
		return
	}
	w.begin(c, a.due)
}

// begin starts an exchange that was due at due.
func (w *worker) begin(c *client, due time.Duration) {
	x := c.push()
	c.script.Next(&x.ask)
	x.begun, x.retried = w.now, false
	s := &x.sample
	*s = bench.Sample{Due: due, Class: x.ask.Class, Started: max(w.now-due, 0)}
	w.pump(c)
}
