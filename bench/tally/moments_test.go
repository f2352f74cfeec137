package tally

import (
	"math"
	"testing"
	"time"
)

// TestSDIsExact takes values whose squares no float64 can hold, and that lie
// close together far from zero.
func TestSDIsExact(t *testing.T) {
	times := newTimes()
	for i := range 1000 {
		times.add(50*time.Second + time.Duration(i%2))
	}
	if want := math.Sqrt(.25 * 1000 / 999); math.Abs(times.SD()-want) > 1e-12 {
		t.Errorf("sd %v ns, want %v", times.SD(), want)
	}
	sizes, others := newSizes(), newSizes()
	for _, n := range []int64{2, 4, 4, 4} {
		sizes.add(n)
	}
	for _, n := range []int64{5, 5, 7, 9} {
		others.add(n)
	}
	sizes.merge(&others)
	if want := math.Sqrt(32. / 7); math.Abs(sizes.SD()-want) > 1e-12 || sizes.Min != 2 || sizes.Max != 9 || sizes.Sum != 40 {
		t.Errorf("%+v, sd %v, want %v", sizes, sizes.SD(), want)
	}
	one := newSizes()
	if one.add(5); one.SD() != 0 {
		t.Errorf("sd of one value %v", one.SD())
	}
}

func TestPadded(t *testing.T) {
	times := newTimes()
	times.add(4 * time.Millisecond)
	all := times.Padded(3)
	mean, _ := all.Mean()
	third, _ := all.Rank(3)
	fourth, _ := all.Rank(4)
	if all.N != 4 || all.Min != 0 || mean != time.Millisecond || third > time.Microsecond || fourth != 4*time.Millisecond || all.SD() != 2e6 {
		t.Errorf("%+v: mean %v, third %v, fourth %v, sd %v", all, mean, third, fourth, all.SD())
	}
	if times.N != 1 || times.Hist.TotalCount() != 1 {
		t.Errorf("the original has changed: %+v", times)
	}
}
