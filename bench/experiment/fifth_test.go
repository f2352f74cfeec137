//go:build !race

package experiment

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
)

// A server that needs 20 % more CPU is reported as different, and the same
// server twice is not. What else runs on the machine may spoil a trial; each
// further one takes longer, which makes up for some of that. Under the race detector neither is the server that the experiment
// means: this measures, so it is built without.
func TestAFifthMoreCPUShows(t *testing.T) {
	o := options(t)
	const burn = 100_000
	var last *bench.Document
	for trial := range 6 {
		long := time.Duration(trial+1) * 100 * time.Millisecond
		doc, err := once(t, o, func(l *lab) *design {
			a := mannered(t, l, "a", manner{burn: burn}, long)
			b := mannered(t, l, "b", manner{burn: burn * 5 / 4}, long)
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
	shown, err := json.Marshal([]any{last.Comparisons[0], last.Noise})
	t.Errorf("20 %% more CPU, and the same twice: %s, %v", shown, err)
}
