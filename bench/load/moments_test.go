package load

import (
	"slices"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

func TestPages(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		counts  []uint64
		want    uint64
	}{
		{[]float64{1}, []uint64{9}, 0},
		{[]float64{2, 1}, []uint64{9, 4}, 0},
		{[]float64{40, 0, 5, 4, 0, 0}, []uint64{8, 7, 3, 4, 4, 2}, 12},
	} {
		r := made(0)
		r.Classes = nil
		for _, w := range c.weights {
			r.Classes = append(r.Classes, bench.Class{Weight: w})
		}
		r.Tally.Classes = c.counts
		if got := r.pages(); got != c.want {
			t.Errorf("weights %v, counts %v: %d pages, want %d", c.weights, c.counts, got, c.want)
		}
	}
}

func TestSpectrum(t *testing.T) {
	few, many := spectrum(&made(12).Tally.Latency), spectrum(&made(1000).Tally.Latency)
	if n := len(few); n == 0 || few[n-1].Q != 1 || few[max(n-2, 0)].Q > .17 {
		t.Errorf("of 12 samples: %v", few)
	}
	if n := len(many); n < 2 || many[n-2].Q != .99 || !slices.IsSortedFunc(many, func(a, b bench.Point) int {
		if a.Q <= b.Q && a.MS <= b.MS {
			return -1
		}
		return 1
	}) {
		t.Errorf("of 1,000 samples: %v", many)
	}
}
