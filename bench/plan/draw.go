package plan

import "math/rand/v2"

// A Drawer draws indexes by weight in constant time, by Walker's alias method
// in the exact integer form of Vose (IEEE Trans. Software Eng. 17, 1991).
type Drawer struct {
	total uint64
	keep  []uint64 // of total, the part of a column that is its own
	alias []int    // whose the rest is
}

// NewDrawer takes weights of at least 1 whose sum, times their number, fits
// into 64 bits.
func NewDrawer(weights []uint64) Drawer {
	n := uint64(len(weights))
	d := Drawer{keep: make([]uint64, n), alias: make([]int, n)}
	for _, w := range weights {
		d.total += w
	}
	var small, large []int
	for i, w := range weights {
		d.keep[i], d.alias[i] = w*n, i
		if w*n < d.total {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		d.alias[s] = l
		d.keep[l] -= d.total - d.keep[s]
		if d.keep[l] < d.total {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return d
}

// Draw returns the index of a weight.
func (d *Drawer) Draw(r *rand.Rand) int {
	if len(d.keep) == 1 {
		return 0
	}
	i := r.IntN(len(d.keep))
	if r.Uint64N(d.total) < d.keep[i] {
		return i
	}
	return d.alias[i]
}
