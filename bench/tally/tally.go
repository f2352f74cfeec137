// Package tally counts samples. A worker adds to its own tally, without lock
// or allocation; when all have ended the tallies are merged, exactly: the
// merged distribution is that of all samples together.
package tally

import (
	"time"

	"github.com/weighstone/weighstone/bench"
)

// SeriesStep is the width of one element of [Tally.Series].
const SeriesStep = 100 * time.Millisecond

// Config says what a tally counts.
type Config struct {
	Classes int // of the plan
	// From is when counting begins, since the start of the run: a sample that
	// was due before is part of the warm-up, and only in Series and Warmup.
	From time.Duration
	// Until is when the measured window ends; 0 for a run that ends with its
	// last request. A sample that ends later counts, but not as throughput.
	Until time.Duration
}

// A Tally is what is known of a set of samples. Its fields are read when
// nobody adds any more.
type Tally struct {
	Config Config

	Faults  bench.Faults // by cause; [bench.FaultNone] counts the good ones
	Status  [1000]uint64 // replies whose head was complete, by status; the wrong ones too
	Classes []uint64     // samples by class, the bad ones too
	Warmup  uint64       // samples that belong to the warm-up
	BytesIn int64        // of all samples, head and body
	Body    int64        // body bytes of the good ones

	// Done counts the good replies that ended within the window, whenever
	// they were due, and DoneBytes their bytes: what throughput is made of.
	// (In a steady state the replies that the window's edges cut off balance
	// those that they cut in; leaving out both would favour small files.)
	Done      uint64
	DoneBytes int64
	// Served is the time within the window that good replies took together,
	// whenever they were due and ended: what Little's law is about.
	Served time.Duration

	Latency Times // of good replies, from when they were due to the last byte
	Service Times // of good replies, from the client's start to the last byte
	First   Times // of good replies, from the request's last byte to the reply's first
	Connect Times // of all connections made for a sample
	Lag     Times // of all samples: how much later than it could the client began
	// Processing is of good replies, from when the connection stood, or from
	// the client's start if it did before, to the last byte.
	Processing Times

	Reply, Content Sizes // of good replies: as read, and the body alone

	// Late counts samples that were begun more than [LateAfter] after they
	// were due; Lagged those of them that were so by the client's own lag, and
	// not for want of a free connection.
	Late, Lagged uint64

	// Series is how many good replies ended in each [SeriesStep] since the
	// start of the run, warm-up included.
	Series []uint32

	// Last is when the last sample ended, LastGood when the last good one did.
	Last, LastGood time.Duration
}

// LateAfter is how far behind its time a send can be before it counts as late:
// what a timer of the kernel may be off.
const LateAfter = time.Millisecond

// seriesRoom is for ten minutes; a longer run lets Series grow now and then.
const seriesRoom = 10 * time.Minute / SeriesStep

// New makes a tally; all memory that adding needs is taken here.
func New(c Config) *Tally {
	return &Tally{
		Config:  c,
		Classes: make([]uint64, c.Classes),
		Latency: newTimes(), Service: newTimes(), First: newTimes(), Connect: newTimes(), Lag: newTimes(), Processing: newTimes(),
		Reply: newSizes(), Content: newSizes(),
		Series: make([]uint32, 0, seriesRoom),
	}
}

// Add counts a sample. It keeps nothing of it.
func (t *Tally) Add(s *bench.Sample) {
	ended := s.Ended()
	if s.Fault == bench.FaultNone {
		t.addDone(s, ended)
	}
	if s.Due < t.Config.From {
		t.Warmup++
		return
	}
	t.Last = max(t.Last, ended)
	t.Faults[s.Fault]++
	t.Classes[s.Class]++
	t.BytesIn += s.BytesIn
	if int(s.Status) < len(t.Status) && s.Status > 0 {
		t.Status[s.Status]++
	}
	if s.Connected > 0 {
		t.Connect.add(s.Connected - s.Started)
	}
	lag := s.Lag()
	t.Lag.add(lag)
	if s.Started > LateAfter {
		t.Late++
		if lag > LateAfter {
			t.Lagged++
		}
	}
	if s.Fault != bench.FaultNone {
		return
	}
	t.LastGood = max(t.LastGood, ended)
	t.Body += s.Body
	t.Latency.add(s.Last)
	t.Service.add(s.Service())
	t.First.add(s.First - s.Sent)
	t.Processing.add(s.Last - max(s.Connected, s.Started))
	t.Reply.add(s.BytesIn)
	t.Content.add(s.Body)
}

// AddConnect counts a connection that was made for no sample, from at on.
func (t *Tally) AddConnect(at, took time.Duration) {
	if at >= t.Config.From {
		t.Connect.add(took)
	}
}

func (t *Tally) addDone(s *bench.Sample, ended time.Duration) {
	i := int(ended / SeriesStep)
	for len(t.Series) <= i {
		t.Series = append(t.Series, 0)
	}
	t.Series[i]++
	until := ended
	if t.Config.Until > 0 {
		until = min(ended, t.Config.Until)
	}
	t.Served += max(0, until-max(s.Due, t.Config.From))
	if ended >= t.Config.From && (t.Config.Until == 0 || ended <= t.Config.Until) {
		t.Done++
		t.DoneBytes += s.BytesIn
	}
}

// A Metric is one of the distributions of a tally.
type Metric int

// The metrics.
const (
	Latency Metric = iota
	Service
	First
	Connect
	Lag
	Processing
	NumMetrics = iota
)

var metricNames = [NumMetrics]string{"latency", "service", "first", "connect", "lag", "processing"}

// String is the metric's name in every report.
func (m Metric) String() string { return metricNames[m] }

// Metrics returns t's distributions by [Metric].
func (t *Tally) Metrics() [NumMetrics]*Times {
	return [NumMetrics]*Times{&t.Latency, &t.Service, &t.First, &t.Connect, &t.Lag, &t.Processing}
}

// Merge adds what o counted. Both have the same configuration.
func (t *Tally) Merge(o *Tally) {
	t.Faults.Add(&o.Faults)
	for i, n := range o.Status {
		t.Status[i] += n
	}
	for i, n := range o.Classes {
		t.Classes[i] += n
	}
	t.Warmup += o.Warmup
	t.BytesIn += o.BytesIn
	t.Body += o.Body
	t.Reply.merge(&o.Reply)
	t.Content.merge(&o.Content)
	t.Done += o.Done
	t.DoneBytes += o.DoneBytes
	t.Served += o.Served
	t.Late += o.Late
	t.Lagged += o.Lagged
	others := o.Metrics()
	for i, m := range t.Metrics() {
		m.merge(others[i])
	}
	for i, n := range o.Series {
		if i == len(t.Series) {
			t.Series = append(t.Series, 0)
		}
		t.Series[i] += n
	}
	t.Last, t.LastGood = max(t.Last, o.Last), max(t.LastGood, o.LastGood)
}
