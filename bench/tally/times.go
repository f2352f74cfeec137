package tally

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range of a histogram, in nanoseconds, and its precision.
const (
	lowest  = int64(time.Microsecond)
	highest = int64(time.Minute)
	digits  = 3
)

// Times is a distribution of durations: a histogram from 1 us to 60 s with
// three significant digits, and beside it what needs no rounding.
type Times struct {
	// Hist counts in nanoseconds. What is above 60 s is not in it but in Over.
	Hist    *hdrhistogram.Histogram
	Over    uint64
	N       uint64 // Over included
	Sum     time.Duration
	Min     time.Duration
	Max     time.Duration
	Squares Squares // of nanoseconds; see [Times.SD]
}

func newTimes() Times {
	return Times{Hist: hdrhistogram.New(lowest, highest, digits), Min: math.MaxInt64}
}

func (t *Times) add(d time.Duration) {
	d = max(d, 0)
	t.N++
	t.Sum += d
	t.Squares.add(uint64(d))
	t.Min, t.Max = min(t.Min, d), max(t.Max, d)
	// The histogram's buckets reach beyond 60 s, and its error is made anew
	// each time: hence a test of our own.
	if int64(d) > highest || t.Hist.RecordValue(int64(d)) != nil {
		t.Over++
	}
}

func (t *Times) merge(o *Times) {
	t.Over += o.Over + uint64(t.Hist.Merge(o.Hist))
	t.N += o.N
	t.Sum += o.Sum
	t.Squares.merge(o.Squares)
	t.Min, t.Max = min(t.Min, o.Min), max(t.Max, o.Max)
}

// Mean returns the mean, and false when there is nothing to take it of.
func (t *Times) Mean() (time.Duration, bool) {
	if t.N == 0 {
		return 0, false
	}
	return t.Sum / time.Duration(t.N), true
}

// Quantile returns the upper end of the histogram's bucket that holds the
// q-quantile, 0 < q < 1, but never more than the maximum. It is false when
// fewer than 10/(1-q) samples stand behind it, for then it would be decided by
// less than ten; or when it is above 60 s.
func (t *Times) Quantile(q float64) (time.Duration, bool) {
	if float64(t.N) < 10/(1-q)-1e-6 {
		return 0, false
	}
	return t.Rank(uint64(math.Ceil(q * float64(t.N))))
}

// Rank returns the upper end of the bucket that holds the k-th smallest value,
// counting from 1, but never more than the maximum. It is false when there is
// none or it is above 60 s.
func (t *Times) Rank(k uint64) (time.Duration, bool) {
	if k == 0 || k > t.N-t.Over {
		return 0, false
	}
	// The library takes percentiles of the values it holds, which do not
	// include Over, and rounds: half a rank lower it cannot miss.
	p := (float64(k) - 0.25) / float64(t.N-t.Over) * 100
	return min(time.Duration(t.Hist.ValueAtPercentile(p)), t.Max), true
}

// Padded returns the distribution with n zeros more: where what a value would
// be of did not happen, and that counts as none.
func (t *Times) Padded(n uint64) Times {
	all := newTimes()
	all.merge(t)
	if n == 0 {
		return all
	}
	all.N += n
	all.Min = 0
	if all.Hist.RecordValues(0, int64(n)) != nil {
		all.Over += n // cannot be: 0 is in range
	}
	return all
}
