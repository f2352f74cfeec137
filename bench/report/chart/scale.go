package chart

import "math"

// A scale carries values of an interval to pixels.
type scale struct {
	lo, hi   float64
	from, to float64
	log      bool
}

func (s *scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// has says whether the scale can show v.
func (s *scale) has(v float64) bool {
	slack := (s.hi - s.lo) * 1e-9
	return !math.IsNaN(v) && v >= s.lo-slack && v <= s.hi+slack
}

// An extent is the smallest interval that holds what was added.
type extent struct {
	lo, hi float64
	any    bool
}

func (e *extent) add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if !e.any {
		e.lo, e.hi, e.any = v, v, true
	}
	e.lo, e.hi = min(e.lo, v), max(e.hi, v)
}

// linear makes a scale from zero, or from the lowest value if that is far from
// zero and zero is not asked for, to a round number above the highest.
func (e extent) linear(zero bool) scale {
	lo, hi := e.lo, e.hi
	if !e.any {
		lo, hi = 0, 1
	}
	if zero || lo > 0 && lo < hi/2 {
		lo = min(lo, 0)
	}
	if hi <= lo {
		hi = lo + max(1, math.Abs(lo))
	}
	step := niceStep(hi-lo, roomForFewTicks)
	return scale{lo: math.Floor(lo/step+1e-9) * step, hi: math.Ceil(hi/step-1e-9) * step}
}

// logarithmic makes a scale a little wider than the values, which are above 0.
func (e extent) logarithmic() scale {
	lo, hi := e.lo, e.hi
	if !e.any || lo <= 0 {
		lo, hi = 1, 10
	}
	widen := math.Pow(hi/lo, .06)
	if hi/lo < 1.05 {
		widen = 1.1
	}
	return scale{lo: lo / widen, hi: hi * widen, log: true}
}

// ticks returns round values that the scale can show, about n of them.
func (s *scale) ticks(n int) (all []float64) {
	if !s.log || s.hi/s.lo < 4 {
		step := niceStep(s.hi-s.lo, n)
		for i := math.Ceil(s.lo/step - 1e-9); i*step <= s.hi+step*1e-9; i++ {
			all = append(all, i*step+0) // and not -0
		}
		return all
	}
	for _, digits := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		all = all[:0]
		for p := math.Floor(math.Log10(s.lo)); p <= math.Ceil(math.Log10(s.hi)); p++ {
			for _, d := range digits {
				if v := d * math.Pow(10, p); s.has(v) {
					all = append(all, v)
				}
			}
		}
		if len(all) <= n+2 {
			break
		}
	}
	return all
}

// niceStep is a step of 1, 2 or 5 times a power of ten that divides span into
// at most about n parts.
func niceStep(span float64, n int) float64 {
	rough := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}
