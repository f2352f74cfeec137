package load

import (
	"time"

	"github.com/weighstone/weighstone/bench"
)

// What an appointment is for, if not a request that is due.
const (
	pumpOnly time.Duration = -1 // exchanges that are under way already and need a connection again
	sip      time.Duration = -2 // a slow reader reads on
)

// free hands a place in c's pipeline, free since done, to the next request:
// begun at once when it is due, unless it must go through the schedule.
func (w *worker) free(c *client, done time.Duration, scheduled bool) {
	due, more := w.pacer.Due(w.asked, done)
	if !more || w.run.stopped.Load() || w.until > 0 && (due >= w.until || done >= w.until) || !w.allowed(due) {
		w.busy--
		return
	}
	w.asked++
	at := max(due, done)
	if scheduled || at > w.now {
		w.later.push(appointment{at: at, due: due, client: c.index})
		return
	}
	w.begin(c, due, at)
}

// crossed is when the complete reply to x could have crossed the client's line:
// now, if there is none or it was slow itself; and come from as far away as the
// server is thought to be.
func (w *worker) crossed(c *client, x *exchange) time.Duration {
	at := w.now
	if w.config.LineRate > 0 {
		at = max(at, x.begun+LineTime(c.reply.bytes, w.config.LineRate))
	}
	return at + Far(w.config.Delay, x.sample.Connected > 0)
}

// Far is what a delay there and back adds to an exchange: as much again when a
// connection was made for it.
func Far(delay time.Duration, connected bool) time.Duration {
	if connected {
		return 2 * delay
	}
	return delay
}

// LineTime is how long so many bytes are on a line of rate bits a second.
func LineTime(bytes int64, rate int) time.Duration {
	return time.Duration(float64(bytes) * 8 / float64(rate) * float64(time.Second))
}

// neverSent is how many requests were due within the run that no place came
// free for, since the place that was last freed asked: none in a closed loop.
func (w *worker) neverSent() (n uint64) {
	if w.until == 0 || w.run.stopped.Load() {
		return 0
	}
	for {
		due, more := w.pacer.Due(w.asked, w.until)
		if !more || due >= w.until || !w.allowed(due) {
			return n
		}
		w.asked++
		if due >= w.from {
			n++
		}
	}
}

// allowed takes a request that is due at due from the budget. Those of the
// warm-up are not part of it.
func (w *worker) allowed(due time.Duration) bool {
	if w.config.Requests == 0 || due < w.from {
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
	switch a.due {
	case pumpOnly:
		w.pump(c)
	case sip:
		w.sipAgain(c, a.life)
	default:
		w.begin(c, a.due, a.at)
	}
}

// begin starts an exchange that was due at due and could begin at at.
func (w *worker) begin(c *client, due, at time.Duration) {
	x := c.push()
	c.script.Next(&x.ask)
	x.begun, x.retried = w.now, false
	s := &x.sample
	*s = bench.Sample{Due: due, Class: x.ask.Class, Ready: at - due, Started: max(w.now-due, at-due)}
	w.pump(c)
}
