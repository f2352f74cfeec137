package load

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/tally"
)

// TestLogHoldsTheWholeRun reads the log with the library's reader and compares
// the sum of its seconds with the result.
func TestLogHoldsTheWholeRun(t *testing.T) {
	t.Parallel()
	s := serveScript(t, always(ok("hi"), true))
	var log bytes.Buffer
	r := runs(t, s.url, Config{
		Duration: 2200 * time.Millisecond, Warmup: 100 * time.Millisecond, Clients: 8, Workers: 2, Keepalive: true,
		Arrival: pace.Arrival{Kind: pace.Poisson, Rate: 500}, Log: &log,
	})
	if r.LogError != nil {
		t.Fatal(r.LogError)
	}
	sums := map[string]*hdrhistogram.Histogram{}
	lines := 0
	last := int64(0)
	for reader := hdrhistogram.NewHistogramLogReader(&log); ; lines++ {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		if sums[h.Tag()] == nil {
			sums[h.Tag()] = tally.New(tally.Config{}).Latency.Hist
		}
		sums[h.Tag()].Merge(h)
		if h.StartTimeMs() < last {
			t.Errorf("line %d begins at %d, the one before at %d", lines, h.StartTimeMs(), last)
		}
		last = h.StartTimeMs()
	}
	for m, times := range map[tally.Metric]*tally.Times{tally.Latency: &r.Tally.Latency, tally.Service: &r.Tally.Service} {
		if sum := sums[m.String()]; sum == nil || !sum.Equals(times.Hist) {
			t.Errorf("the log's %v is not the result's", m)
		}
	}
	if lines < 6 {
		t.Errorf("%d lines for 2.2 s", lines)
	}
	var good uint64
	end := r.Config.Warmup
	for _, s := range r.Seconds {
		if good += s.Good; s.From > end || s.To <= s.From || s.Good > 0 && (s.P50 == 0 || s.P50 > s.P99 || s.P99 > s.Max) {
			t.Errorf("second %+v after %v", s, end)
		}
		end = s.To
	}
	if good != r.Good() || uint64(r.Tally.Latency.Hist.TotalCount()) != good {
		t.Errorf("%d good in the seconds, %d in the histogram, %d in all", good, r.Tally.Latency.Hist.TotalCount(), r.Good())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestLogThatCannotBeWritten: the run goes on, and its result says so.
func TestLogThatCannotBeWritten(t *testing.T) {
	s := serveScript(t, always(ok("hi"), true))
	r := runs(t, s.url, Config{Requests: 20, Clients: 2, Keepalive: true, Log: fullDisk{}})
	if r.Good() != 20 || r.LogError == nil || !strings.Contains(r.LogError.Error(), "no space") {
		t.Errorf("good %d, error %v", r.Good(), r.LogError)
	}
}
