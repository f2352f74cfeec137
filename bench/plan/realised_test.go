package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

// TestChiSquaredAgainstTables: the value of a table gives the probability it
// stands under (NIST/SEMATECH e-Handbook, section 1.3.6.7.4).
func TestChiSquaredAgainstTables(t *testing.T) {
	for _, c := range []struct {
		freedom       int
		chi2, p, upTo float64
	}{
		{1, 3.841, 0.05, 1e-4}, {1, 10.828, 0.001, 1e-5}, {2, 5.991, 0.05, 1e-4}, {5, 11.070, 0.05, 1e-4},
		{5, 20.515, 0.001, 1e-5}, {10, 18.307, 0.05, 1e-4}, {20, 37.566, 0.01, 1e-4}, {100, 124.342, 0.05, 1e-4},
	} {
		// Two sorts of cells, so far off from equal weights that chi-squared is as wanted.
		k := c.freedom + 1
		classes, counts := make([]bench.Class, k), make([]uint64, k)
		const each = 1 << 40
		off := math.Sqrt(c.chi2 * each / 2)
		for i := range classes {
			classes[i].Weight, counts[i] = 1, each
		}
		counts[0] += uint64(off)
		counts[1] -= uint64(off)
		r := ChiSquared(classes, counts)
		if r == nil || r.Freedom != c.freedom || math.Abs(r.ChiSquared-c.chi2) > 1e-4 || math.Abs(r.P-c.p) > c.upTo {
			t.Errorf("%+v, want %+v", r, c)
		}
	}
}

// TestRealisedMix: the plan's own draws pass, a biased one does not.
func TestRealisedMix(t *testing.T) {
	list, err := Parse("list", strings.NewReader("/a 35\n/b 50\n/c 14\n/d 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(list, "http://h/", Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const clients, each = 20, 1000
	counts, biased := make([]uint64, 4), make([]uint64, 4)
	var ask bench.Ask
	for client := range clients {
		s := p.Script(client)
		for range each {
			s.Next(&ask)
			counts[ask.Class]++
			if ask.Class == 1 && biased[1]%20 == 0 { // one in twenty of the second is the first
				biased[0]++
			}
			biased[ask.Class]++
		}
	}
	biased[1] -= biased[1] / 20
	if r := ChiSquared(p.Classes(), counts); r == nil || r.P < 1e-3 || r.Freedom != 3 || r.Draws != clients*each {
		t.Errorf("the plan's own draws: %+v of %v", r, counts)
	}
	if r := ChiSquared(p.Classes(), biased); r == nil || r.P > 1e-6 {
		t.Errorf("a biased plan passes: %+v of %v", r, biased)
	}
}

// TestRealisedIsFalselyAlarmedAsOftenAsItSays draws 400 small runs.
func TestRealisedIsFalselyAlarmedAsOftenAsItSays(t *testing.T) {
	list, _ := Parse("list", strings.NewReader("/a 40\n/b 30\n/c 20\n/d 10\n"))
	alarms := 0
	for seed := range uint64(400) {
		p, err := New(list, "http://h/", Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]uint64, 4)
		var ask bench.Ask
		s := p.Script(0)
		for range 300 {
			s.Next(&ask)
			counts[ask.Class]++
		}
		if ChiSquared(p.Classes(), counts).P < 0.05 {
			alarms++
		}
	}
	if alarms < 5 || alarms > 37 { // 20, to four deviations
		t.Errorf("%d of 400 fair runs are below 0.05", alarms)
	}
}

func TestRealisedNeedsSomethingToTest(t *testing.T) {
	two := []bench.Class{{Weight: 1}, {Weight: 1}}
	if r := ChiSquared(two[:1], []uint64{100}); r != nil {
		t.Errorf("one class: %+v", r)
	}
	if r := ChiSquared(two, []uint64{2, 2}); r != nil {
		t.Errorf("4 draws: %+v", r)
	}
	// The later file of a page follows the first and is not drawn.
	page := append(two, bench.Class{Dynamic: true})
	if r := ChiSquared(page, []uint64{50, 50, 100}); r == nil || r.Freedom != 1 || r.Draws != 100 || r.Dynamic != 0.5 {
		t.Errorf("page: %+v", r)
	}
	// Rare classes are counted together.
	rare := []bench.Class{{Weight: 96}, {Weight: 2}, {Weight: 2}}
	if r := ChiSquared(rare, []uint64{196, 2, 2}); r == nil || r.Freedom != 1 {
		t.Errorf("rare: %+v", r)
	}
}
