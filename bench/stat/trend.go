package stat

import (
	"math"
	"slices"
)

// A Trend is how a figure went over the repetitions of a cell.
type Trend struct {
	// Change is from the first to the last repetition, relative to the
	// median, along Theil and Sen's line (the median of all slopes).
	Change float64
	// P is the two-sided probability of Mann and Kendall's test (Mann,
	// Econometrica 13, 1945): that figures without a trend are as much in
	// order as these. It is 1 for fewer than four.
	P float64
}

// TrendOf returns the trend of figures in the order in which they were taken.
func TrendOf(xs []float64) Trend {
	n := len(xs)
	if n < 4 {
		return Trend{P: 1}
	}
	var slopes []float64
	s, ties := 0, false
	for i := range xs {
		for k := i + 1; k < n; k++ {
			slopes = append(slopes, (xs[k]-xs[i])/float64(k-i))
			switch {
			case xs[k] > xs[i]:
				s++
			case xs[k] < xs[i]:
				s--
			default:
				ties = true
			}
		}
	}
	t := Trend{P: kendall(n, s, ties)}
	if m := middle(xs); m != 0 {
		t.Change = middle(slopes) * float64(n-1) / m
	}
	return t
}

func middle(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// kendall returns the two-sided p of Kendall's S for n values: exact without
// ties; with ties by the normal distribution of the case without, which errs
// to the side of no trend.
func kendall(n, s int, ties bool) float64 {
	size := s
	if size < 0 {
		size = -size
	}
	if size == 0 {
		return 1
	}
	if ties || n > 50 {
		deviation := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
		return math.Erfc(float64(size-1) / deviation / math.Sqrt2)
	}
	// The chance of so many inversions in a random order, one value more at a
	// time: a new largest one makes 0 to i inversions.
	chance := []float64{1}
	for i := 1; i < n; i++ {
		next := make([]float64, len(chance)+i)
		for k, p := range chance {
			for d := 0; d <= i; d++ {
				next[k+d] += p / float64(i+1)
			}
		}
		chance = next
	}
	pairs, tail := n*(n-1)/2, 0.0
	for inversions, p := range chance {
		if pairs-2*inversions >= size {
			tail += p
		}
	}
	return math.Min(1, 2*tail)
}
