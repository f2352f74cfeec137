package stat

import (
	"math"
	"slices"
)

// CompareUnpaired compares runs that were not made pair by pair, such as those
// of two files. Its ratio is the Hodges-Lehmann shift of the logarithms,
// exponentiated: the median of all ratios a[i]/b[k], with the interval that
// belongs to the Mann-Whitney test (Hodges and Lehmann, Annals of Mathematical
// Statistics 34, 1963; Hollander and Wolfe, section 4.3). Figures that are not
// positive numbers are left out. It leaves its arguments as they are.
func CompareUnpaired(a, b []float64) Comparison {
	logsA, logsB := logs(a), logs(b)
	s := shift(logsA, logsB)
	return Comparison{
		Ratio: Summary{Median: math.Exp(s.Median), Lo: math.Exp(s.Lo), Hi: math.Exp(s.Hi), N: s.N},
		P:     MannWhitney(a, b),
	}
}

func logs(xs []float64) []float64 {
	var all []float64
	for _, x := range xs {
		if usable(x) {
			all = append(all, math.Log(x))
		}
	}
	return all
}

// shift returns the Hodges-Lehmann estimate of how much larger a is than b,
// with its interval; N is the size of the smaller sample.
func shift(a, b []float64) Summary {
	inf := math.Inf(1)
	s := Summary{Median: math.NaN(), Lo: -inf, Hi: inf, N: min(len(a), len(b))}
	if s.N == 0 {
		return s
	}
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, x-y)
		}
	}
	slices.Sort(differences)
	n := len(differences)
	s.Median = (differences[(n-1)/2] + differences[n/2]) / 2
	if k := critical(len(a), len(b)); k > 0 {
		s.Lo, s.Hi = differences[k-1], differences[n-k]
	}
	return s
}

// exactSizes is the product of sample sizes up to which the distribution of U
// is computed; above, the normal one is as good.
const exactSizes = 2500

// critical returns the largest k for which the k-th smallest and k-th largest
// of the m*n differences hold the shift with at least [Confidence]; 0 for none.
func critical(m, n int) int {
	const tail = (1 - Confidence) / 2
	if m*n > exactSizes {
		z := math.Sqrt2 * math.Erfinv(Confidence)
		mean, deviation := float64(m*n)/2, math.Sqrt(float64(m*n*(m+n+1))/12)
		return max(int(mean-z*deviation), 0)
	}
	k, sum := 0, 0.0
	for _, p := range rankSums(m, n) {
		if sum += p; sum > tail {
			break
		}
		k++
	}
	return k
}

// rankSums returns the probabilities of Mann and Whitney's U = 0, 1, 2 ... for
// samples of m and n without ties, if there is no difference: by the
// recurrence of their paper (Annals of Mathematical Statistics 18, 1947).
func rankSums(m, n int) []float64 {
	// ways[j][u] is the chance of U = u with i values of one sample and j of
	// the other; the largest value belongs to one of them.
	ways := make([][]float64, n+1)
	for j := range ways {
		ways[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		next := make([][]float64, n+1)
		next[0] = []float64{1}
		for j := 1; j <= n; j++ {
			p := make([]float64, i*j+1)
			for u, w := range ways[j] { // the largest is of the first sample: it is above all j
				p[u+j] += w * float64(i) / float64(i+j)
			}
			for u, w := range next[j-1] {
				p[u] += w * float64(j) / float64(i+j)
			}
			next[j] = p
		}
		ways = next
	}
	return ways[n]
}
