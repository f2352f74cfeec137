//go:build !race

package experiment

import (
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
)

// A server that needs 20 % more CPU is reported as different, and the same
// server twice is not. What else runs on the machine may spoil a trial, but not
// three. Under the race detector neither is the server that the experiment
// means: this measures, so it is built without.
func TestAFifthMoreCPUShows(t *testing.T) {
	o := options(t)
	const burn = 100_000
	var last *bench.Document
	for range 3 {
		doc, err := once(t, o, func(l *lab) *design {
			a := mannered(t, l, "a", manner{burn: burn}, 100*time.Millisecond)
			b := mannered(t, l, "b", manner{burn: burn * 5 / 4}, 100*time.Millisecond)
			d := &design{units: [][]*cell{{a, b}}, runs: 9, compare: []comparison{{name: "b to a", a: b, b: a, metric: claimCPU}}}
			d.controls.twins = twinsOf(a, a.subject.(*subject.Local))
			return d
		})
		if err != nil {
			t.Fatal(err)
		}
		last = doc
		c, same := doc.Comparisons[0], doc.Noise[1]
		if c.Claimed != nil && *c.Claimed && *c.Lo > 1.05 && *c.Hi < 1.5 && *same.Lo <= 1 && *same.Hi >= 1 && *same.Spread < *c.Ratio {
			return
		}
	}
	t.Errorf("20 %% more CPU: %+v; the same twice: %+v", last.Comparisons[0], last.Noise)
}
