package load

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/weighstone/weighstone/bench/tally"
)

// turnEach is how long the workers count into one set of histograms.
const turnEach = time.Second

// A Second is what ended in a stretch of a run, of a second or so. The
// quantiles are of the latency of good replies.
type Second struct {
	From, To      time.Duration // since the start of the run
	Good, Faults  uint64
	P50, P99, Max time.Duration
}

// A collector takes what the workers hand over each second, and makes of it
// the distributions of the whole run, a series, and a log. It works in the
// goroutine that called Run.
type collector struct {
	start   time.Time
	total   *tally.Tally
	seconds []Second
	log     *hdrhistogram.HistogramLogWriter // nil without a log
	err     error                            // of writing the log
	all     *tally.Interval                  // of all workers
	waited  int
}

// logged are the metrics that go into the log.
var logged = [...]tally.Metric{tally.Latency, tally.Service, tally.Connect}

func newCollector(start time.Time, total *tally.Tally, log io.Writer) *collector {
	c := &collector{start: start, total: total, all: tally.NewInterval()}
	if log == nil {
		return c
	}
	c.log = hdrhistogram.NewHistogramLogWriter(log)
	c.keep(c.log.OutputComment("[weighstone: latency is from when a request was due, service from when the client began; good replies]"))
	c.keep(c.log.OutputLogFormatVersion())
	c.keep(c.log.OutputStartTime(start.UnixMilli()))
	c.keep(c.log.OutputLegend())
	return c
}

func (c *collector) keep(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("load: write the histogram log: %w", err)
	}
}

// look takes what has been handed over, once all workers have done so or some
// keep the others waiting.
func (c *collector) look(workers []*worker) {
	ready := 0
	for _, w := range workers {
		if w.relay.Full() {
			ready++
		}
	}
	const patience = 2
	if ready == 0 || ready < len(workers) && c.waited < patience {
		if ready > 0 {
			c.waited++
		}
		return
	}
	c.waited = 0
	c.take(workers)
}

// last takes what is left when the workers have ended.
func (c *collector) last(workers []*worker) {
	c.take(workers)
	for _, w := range workers {
		w.relay.Turn(w.tally, w.now)
	}
	c.take(workers)
}

func (c *collector) take(workers []*worker) {
	c.all.Reset()
	for _, w := range workers {
		if iv := w.relay.Take(); iv != nil {
			c.all.Merge(iv)
			w.relay.Return(iv)
		}
	}
	if c.all.Good+c.all.Faults == 0 && c.all.To <= c.all.From {
		return
	}
	c.total.Absorb(c.all)
	latency := c.all.Hists[tally.Latency]
	c.seconds = append(c.seconds, Second{
		From: c.all.From, To: c.all.To, Good: c.all.Good, Faults: c.all.Faults,
		P50: rank(latency, .5), P99: rank(latency, .99), Max: rank(latency, 1),
	})
	if c.log == nil {
		return
	}
	for _, m := range logged {
		h := c.all.Hists[m]
		if m == tally.Connect && h.TotalCount() == 0 {
			continue
		}
		h.SetTag(m.String())
		h.SetStartTimeMs(c.start.Add(c.all.From).UnixMilli())
		h.SetEndTimeMs(c.start.Add(c.all.To).UnixMilli())
		c.keep(c.log.OutputIntervalHistogram(h))
	}
}

func rank(h *hdrhistogram.Histogram, q float64) time.Duration {
	n := float64(h.TotalCount())
	if n == 0 {
		return 0
	}
	return time.Duration(h.ValueAtPercentile((math.Ceil(q*n) - 0.25) / n * 100))
}
