package plan

import (
	"github.com/aclements/go-moremath/mathx"
	"github.com/weighstone/weighstone/bench"
)

// enough is the smallest expected count that the distribution of chi-squared
// is good for (Cochran, Biometrics 10, 1954). Classes with less are counted
// together.
const enough = 5

// ChiSquared compares how often each class was asked with the weights. Classes
// without a weight follow others, and only count for Dynamic. It is nil when
// there is nothing to test: one class, or too few draws.
func ChiSquared(classes []bench.Class, counts []uint64) *bench.Mix {
	var r bench.Mix
	var weights float64
	var all, dynamic uint64
	for i, c := range classes {
		all += counts[i]
		if c.Dynamic {
			dynamic += counts[i]
		}
		if c.Weight > 0 {
			weights += c.Weight
			r.Draws += counts[i]
		}
	}
	var rest struct{ got, want float64 }
	cells := 0
	add := func(got, want float64) {
		cells++
		r.ChiSquared += (got - want) * (got - want) / want
	}
	for i, c := range classes {
		if c.Weight <= 0 {
			continue
		}
		got, want := float64(counts[i]), c.Weight/weights*float64(r.Draws)
		if want < enough {
			rest.got += got
			rest.want += want
			continue
		}
		add(got, want)
	}
	if rest.want > 0 {
		add(rest.got, rest.want)
	}
	r.Freedom = cells - 1
	if r.Freedom < 1 || rest.want > 0 && rest.want < enough && cells == 2 {
		return nil
	}
	r.P = mathx.GammaIncComp(float64(r.Freedom)/2, r.ChiSquared/2)
	if all > 0 {
		r.Dynamic = float64(dynamic) / float64(all)
	}
	return &r
}
