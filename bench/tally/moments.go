package tally

import (
	"math"
	"math/big"
	"math/bits"
)

// Squares is a sum of squares, exact to 128 bits: that of a thousand million
// times a minute in nanoseconds still fits.
type Squares struct{ Hi, Lo uint64 }

func (s *Squares) add(v uint64) {
	hi, lo := bits.Mul64(v, v)
	s.merge(Squares{hi, lo})
}

func (s *Squares) merge(o Squares) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, o.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, o.Hi, carry)
}

// sd is the sample standard deviation, by n-1, of n values with this sum of
// squares and that sum.
func (s Squares) sd(n uint64, sum int64) float64 {
	if n < 2 {
		return 0
	}
	// n times the squares less the square of the sum, without rounding: the
	// difference can be a small part of either.
	squares := new(big.Int).SetUint64(s.Hi)
	squares.Lsh(squares, 64).Or(squares, new(big.Int).SetUint64(s.Lo))
	count, total := new(big.Int).SetUint64(n), big.NewInt(sum)
	squares.Mul(squares, count).Sub(squares, total.Mul(total, total))
	f, _ := new(big.Float).SetInt(squares).Float64()
	return math.Sqrt(f / float64(n) / float64(n-1))
}

// Sizes are what is kept of a distribution of lengths in bytes.
type Sizes struct {
	N        uint64
	Sum      int64
	Squares  Squares
	Min, Max int64
}

func newSizes() Sizes { return Sizes{Min: math.MaxInt64} }

func (s *Sizes) add(n int64) {
	n = max(n, 0)
	s.N++
	s.Sum += n
	s.Squares.add(uint64(n))
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
}

func (s *Sizes) merge(o *Sizes) {
	s.N += o.N
	s.Sum += o.Sum
	s.Squares.merge(o.Squares)
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
}

// SD is the sample standard deviation in bytes, 0 of fewer than two.
func (s *Sizes) SD() float64 { return s.Squares.sd(s.N, s.Sum) }

// SD is the sample standard deviation in nanoseconds, 0 of fewer than two.
func (t *Times) SD() float64 { return t.Squares.sd(t.N, int64(t.Sum)) }
