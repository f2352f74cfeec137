package report

import (
	"math"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"pgregory.net/rapid"
)

func momentsOf(xs []float64) bench.Moments {
	m := bench.Moments{N: uint64(len(xs))}
	if len(xs) == 0 {
		return m
	}
	var sum, squares float64
	lo, hi := xs[0], xs[0]
	for _, x := range xs {
		sum += x
		lo, hi = min(lo, x), max(hi, x)
	}
	mean := sum / float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	m.Mean, m.Min, m.Max = &mean, &lo, &hi
	if len(xs) > 1 {
		m.SD = num(math.Sqrt(squares / float64(len(xs)-1)))
	}
	return m
}

// TestPoolEqualsConcatenation deals values to two and pools their moments.
func TestPoolEqualsConcatenation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1000), 0, 20)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		got, want := pool(momentsOf(a), momentsOf(b)), momentsOf(append(append([]float64{}, a...), b...))
		same := func(x, y *float64) bool {
			return (x == nil) == (y == nil) && (x == nil || math.Abs(*x-*y) < 1e-6)
		}
		if got.N != want.N || !same(got.Mean, want.Mean) || !same(got.SD, want.SD) || !same(got.Min, want.Min) || !same(got.Max, want.Max) {
			t.Fatalf("pooled %v %v, want %v %v", got.N, number(got.SD, decimals(9)), want.N, number(want.SD, decimals(9)))
		}
	})
}
