package specweb

import (
	"fmt"
	"math"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// The rules by which a load conforms.
const (
	ConformingRate  = 0.8  // of the line's rate: 320,000 bit/s of 400,000, of a connection over the run
	ConformingShare = 0.95 // of the connections
	ErrorShare      = 0.01 // of the requests of a class, at most
	// mixChance is how seldom a fair draw may be as far from its share as is
	// tolerated: once in so many shares that are looked at.
	mixChance = 1e-5
)

// Conformance is how the connections of an iteration did.
type Conformance struct {
	Connections int       `json:"connections"`
	Conforming  int       `json:"conforming"`
	Needed      float64   `json:"needed_bits_per_s"` // of each; 0 without a line rate
	Rates       []float64 `json:"-"`                 // bits a second, of each connection
	MeanRate    float64   `json:"mean_bits_per_s"`
	Requests    uint64    `json:"requests"`
	Failed      uint64    `json:"failed"`
	Operations  []Share   `json:"operations"`
	Reasons     []string  `json:"reasons"` // why the load does not conform; none if it does
}

// A Share is how often an operation was asked, beside how often it should be.
type Share struct {
	Name   string  `json:"name"`
	Asked  uint64  `json:"asked"`
	Failed uint64  `json:"failed"`
	Wanted float64 `json:"wanted_percent"`
	Got    float64 `json:"percent"`
}

// Conform judges what the plan's clients have counted.
func (p *Plan) Conform() *Conformance {
	c := &Conformance{Connections: len(p.sessions), Needed: ConformingRate * float64(p.lineRate)}
	var all counts
	for _, s := range p.sessions {
		rate := 0.0
		if s.count.took > 0 {
			rate = s.count.bytes * 8 / s.count.took.Seconds()
		}
		c.Rates = append(c.Rates, rate)
		c.MeanRate += rate / float64(len(p.sessions))
		if rate > c.Needed {
			c.Conforming++
		}
		for op := range all.asked {
			for class := range all.asked[op] {
				all.asked[op][class] += s.count.asked[op][class]
				all.failed[op][class] += s.count.failed[op][class]
			}
		}
	}
	if p.lineRate > 0 && float64(c.Conforming) < ConformingShare*float64(c.Connections) {
		c.reason("%d of %d connections are faster than %.0f bit/s, %.0f %% are needed", c.Conforming, c.Connections, c.Needed, 100*ConformingShare)
	}
	c.errors(&all)
	c.mix(&all)
	return c
}

func (c *Conformance) reason(format string, args ...any) {
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
}

// errors looks whether too many requests of a class failed.
func (c *Conformance) errors(all *counts) {
	for op := range all.asked {
		share := Share{Name: rules.Operation(op).String()}
		for class := range all.asked[op] {
			asked, failed := uint64(all.asked[op][class]), uint64(all.failed[op][class])
			share.Asked, share.Failed = share.Asked+asked, share.Failed+failed
			if float64(failed) > ErrorShare*float64(asked) {
				c.reason("%d of %d requests failed of %s for files of class %d, %.0f %% may", failed, asked, rules.Operation(op), class, 100*ErrorShare)
			}
		}
		c.Requests, c.Failed = c.Requests+share.Asked, c.Failed+share.Failed
		c.Operations = append(c.Operations, share)
	}
	if c.Requests == 0 {
		c.reason("nothing was asked")
	}
}

// mix looks whether the shares of operations and classes are what a fair draw
// gives.
func (c *Conformance) mix(all *counts) {
	weights := rules.OperationWeights()
	for op := range c.Operations {
		share := &c.Operations[op]
		share.Wanted = float64(weights[op]) / 100
		share.Got = 100 * float64(share.Asked) / float64(max(c.Requests, 1))
		if !Plausible(share.Asked, c.Requests, share.Wanted/100) {
			c.reason("%d of %d requests are %s, %.2f %% are wanted", share.Asked, c.Requests, share.Name, share.Wanted)
		}
	}
	for class, weight := range rules.ClassWeights() {
		var asked uint64
		for op := range all.asked {
			asked += uint64(all.asked[op][class])
		}
		if !Plausible(asked, c.Requests, float64(weight)/100) {
			c.reason("%d of %d requests are for files of class %d, %d %% are wanted", asked, c.Requests, class, weight)
		}
	}
}

// Plausible says whether k of n draws with probability p are no more improbable,
// that many or more, or that few or fewer, than [mixChance]: the binomial
// distribution's exact tails.
func Plausible(k, n uint64, p float64) bool {
	return n == 0 || 2*min(tail(k, n, p), tail(n-k, n, 1-p)) >= mixChance
}

// tail is the probability of k or fewer of n draws.
func tail(k, n uint64, p float64) float64 {
	if float64(k) >= float64(n)*p {
		return 1 // more than about a half; the other tail decides
	}
	// From the largest term down: each is smaller than the last by a factor.
	lg := func(v uint64) float64 { g, _ := math.Lgamma(float64(v) + 1); return g }
	term := math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	sum := 0.0
	for i := k; ; i-- {
		sum += term
		if i == 0 || term < sum*1e-17 {
			return sum
		}
		term *= float64(i) / float64(n-i+1) * (1 - p) / p
	}
}
