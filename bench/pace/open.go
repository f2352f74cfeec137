package pace

import (
	"math/rand/v2"
	"time"
)

// constant is the pacer of a worker that has every step-th request, at the
// distances that the curve says.
type constant struct {
	curve       curve
	first, step float64
}

// Due implements bench.Pacer. Each time is computed from n alone, so that no
// error adds up.
func (p *constant) Due(n uint64, _ time.Duration) (time.Duration, bool) {
	return p.curve.at(p.first + float64(n)*p.step), true
}

// poisson is the pacer of a worker that has its share of a Poisson process:
// such shares, drawn independently, are together the whole process. A rate
// that changes is the same process on a stretched time axis.
type poisson struct {
	curve curve
	share float64 // the mean distance of this worker's requests, counted in all requests
	rand  *rand.Rand
	drawn uint64        // how many have been drawn
	sum   float64       // position of the last one drawn
	last  time.Duration // and its time
}

func newPoisson(c curve, worker, workers int, seed uint64) *poisson {
	return &poisson{curve: c, share: float64(workers), rand: rand.New(rand.NewPCG(seed, uint64(worker)))}
}

// Due implements bench.Pacer. The last n may be asked for again.
func (p *poisson) Due(n uint64, _ time.Duration) (time.Duration, bool) {
	for p.drawn <= n {
		p.sum += p.rand.ExpFloat64() * p.share
		p.drawn++
		p.last = p.curve.at(p.sum)
	}
	return p.last, true
}
