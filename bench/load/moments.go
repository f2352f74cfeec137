package load

import (
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/tally"
)

func timeMoments(t *tally.Times) bench.Moments {
	m := bench.Moments{N: t.N}
	if t.N > 0 {
		m.Mean, m.Min, m.Max = bench.Number(float64(t.Sum)/float64(t.N)/1e6), inMillis(t.Min), inMillis(t.Max)
	}
	if t.N > 1 {
		m.SD = bench.Number(t.SD() / 1e6)
	}
	return m
}

func sizeMoments(s *tally.Sizes) bench.Moments {
	m := bench.Moments{N: s.N}
	if s.N > 0 {
		m.Mean, m.Min, m.Max = bench.Number(float64(s.Sum)/float64(s.N)), bench.Number(float64(s.Min)), bench.Number(float64(s.Max))
	}
	if s.N > 1 {
		m.SD = bench.Number(s.SD())
	}
	return m
}

// pages is how often the last file of a page was fetched. The later files of
// a page are not drawn and have no weight; see [bench.Class].
func (r *Result) pages() (n uint64) {
	paged := false
	for i := range r.Classes {
		paged = paged || r.Classes[i].Weight == 0
		if i+1 == len(r.Classes) || r.Classes[i+1].Weight > 0 {
			n += r.Tally.Classes[i]
		}
	}
	if !paged {
		return 0
	}
	return n
}

// spectrum is the distribution of latency at those quantiles behind which
// there are enough samples, and its maximum.
func spectrum(t *tally.Times) []bench.Point {
	points := []bench.Point{}
	for _, q := range [...]float64{.01, .05, .1, .2, .3, .4, .5, .6, .66, .7, .75, .8, .85, .9, .925, .95, .97, .98, .99,
		.995, .998, .999, .9995, .9998, .9999, .99995, .99998, .99999} {
		if v, ok := t.Quantile(q); ok {
			points = append(points, bench.Point{Q: q, MS: float64(v) / 1e6})
		}
	}
	if t.N > 0 {
		points = append(points, bench.Point{Q: 1, MS: float64(t.Max) / 1e6})
	}
	return points
}
