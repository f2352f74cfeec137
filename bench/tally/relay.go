package tally

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Relay hands a tally's histograms, a stretch of time at a time, from the
// worker that fills them to a collector, without a lock and without either
// waiting for the other. Each metric has two histograms: while the collector
// has one of them the worker fills the other.
type Relay struct {
	empty, full atomic.Pointer[Interval]

	// The worker's: what was known when the present stretch began.
	from         time.Duration
	good, faults uint64
}

// An Interval is what a tally counted in a stretch of time, by when the
// exchanges ended. The collector owns it between [Relay.Take] and
// [Relay.Return].
type Interval struct {
	From, To time.Duration // since the start of the run
	Hists    [NumMetrics]*hdrhistogram.Histogram
	Good     uint64 // replies, those whose latency is above 60 s included
	Faults   uint64
}

// NewRelay makes the relay of a tally whose first stretch begins at from.
func NewRelay(from time.Duration) *Relay {
	r := &Relay{from: from}
	r.empty.Store(NewInterval())
	return r
}

// Turn ends the stretch and hands it over: the worker's call. If the collector
// still has the one before, the stretch goes on and Turn returns false.
func (r *Relay) Turn(t *Tally, now time.Duration) bool {
	iv := r.empty.Swap(nil)
	if iv == nil {
		return false
	}
	for i, m := range t.Metrics() {
		m.Hist, iv.Hists[i] = iv.Hists[i], m.Hist
	}
	good, faults := t.Latency.N, t.Faults.Total()
	iv.From, iv.To = r.from, now
	iv.Good, iv.Faults = good-r.good, faults-r.faults
	r.from, r.good, r.faults = now, good, faults
	r.full.Store(iv)
	return true
}

// Full says whether there is something to take.
func (r *Relay) Full() bool { return r.full.Load() != nil }

// Take returns what was handed over, nil if nothing was: the collector's call.
func (r *Relay) Take() *Interval { return r.full.Swap(nil) }

// Return gives back what was taken, for the worker to fill again.
func (r *Relay) Return(iv *Interval) {
	iv.Reset()
	r.empty.Store(iv)
}

// Merge adds what o counted to iv, and makes it last as long as both.
func (iv *Interval) Merge(o *Interval) {
	for i, h := range iv.Hists {
		h.Merge(o.Hists[i])
	}
	if iv.To == 0 {
		iv.From = o.From
	}
	iv.From, iv.To = min(iv.From, o.From), max(iv.To, o.To)
	iv.Good += o.Good
	iv.Faults += o.Faults
}

// NewInterval makes an empty interval, to merge others into.
func NewInterval() *Interval {
	iv := new(Interval)
	for i := range iv.Hists {
		iv.Hists[i] = hdrhistogram.New(lowest, highest, digits)
	}
	return iv
}

// Reset empties iv.
func (iv *Interval) Reset() {
	for _, h := range iv.Hists {
		h.Reset()
	}
	*iv = Interval{Hists: iv.Hists}
}

// Absorb adds the histograms of an interval, whose other figures are still in
// the tally that handed it over and come when that is merged.
func (t *Tally) Absorb(iv *Interval) {
	for i, m := range t.Metrics() {
		m.Hist.Merge(iv.Hists[i])
	}
}
