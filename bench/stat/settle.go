package stat

import "math"

// settleEach is how many elements of a series are looked at together, so that
// one odd element is not taken for a warm-up (the "5" of MSER-5 is for series
// of thousands).
const settleEach = 2

// How far the mean of the beginning must be from the mean of the rest,
// relative to that, to be called a warm-up, and how far the halves of the rest
// may be from each other.
const (
	settleJump  = 0.05
	settleDrift = 0.10
)

// Settled returns how many elements at the beginning of a series belong to the
// warm-up: the cut in the first half that makes the standard error of the rest
// smallest (White, "An effective truncation heuristic for bias reduction in
// simulation output", Simulation 69, 1997: MSER). settled is false when the
// rest is still on its way: its halves differ.
func Settled(series []float64) (warmup int, settled bool) {
	var means []float64
	for i := 0; i+settleEach <= len(series); i += settleEach {
		sum := 0.0
		for _, v := range series[i : i+settleEach] {
			sum += v
		}
		means = append(means, sum/settleEach)
	}
	if len(means) < 4 {
		return 0, true
	}
	best, cut := math.Inf(1), 0
	for d := 0; d <= len(means)/2; d++ {
		_, squares := spread(means[d:])
		n := float64(len(means) - d)
		if e := squares / (n * n); e < best*(1-1e-9) {
			best, cut = e, d
		}
	}
	if cut > 0 {
		before, _ := spread(means[:cut])
		if after, _ := spread(means[cut:]); apart(before, after) < settleJump {
			cut = 0
		}
	}
	rest := means[cut:]
	early, _ := spread(rest[:len(rest)/2])
	late, _ := spread(rest[len(rest)/2:])
	return cut * settleEach, apart(early, late) < settleDrift
}

// apart is how far a is from b, relative to b.
func apart(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return math.Abs(a-b) / math.Abs(b)
}

// spread returns the mean of xs and the sum of the squared distances from it.
func spread(xs []float64) (mean, squares float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return mean, squares
}
