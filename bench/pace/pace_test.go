package pace

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// dues are the times of all workers together until a time, in order.
func dues(a *Arrival, workers int, until time.Duration) []time.Duration {
	var all []time.Duration
	for w := range workers {
		p := a.Pacer(w, workers)
		for n := uint64(0); ; n++ {
			at, more := p.Due(n, 0)
			if !more || at >= until {
				break
			}
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

func TestConstantIsExact(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		a := Arrival{Kind: Constant, Rate: 300}
		got := dues(&a, workers, 10*time.Second)
		if len(got) != 3000 {
			t.Fatalf("%d workers: %d requests in 10 s, want 3000", workers, len(got))
		}
		for i, at := range got {
			if want := time.Duration(math.Round(float64(i) * 1e9 / 300)); at != want {
				t.Fatalf("%d workers: request %d at %v, want %v", workers, i, at, want)
			}
		}
	}
}

// TestPoisson checks number, distances and independence of the arrivals
// against the exponential distribution.
func TestPoisson(t *testing.T) {
	for _, workers := range []int{1, 3} {
		a := Arrival{Kind: Poisson, Rate: 1000, Seed: 7}
		got := dues(&a, workers, 100*time.Second)
		if n := float64(len(got)); math.Abs(n-1e5) > 4*math.Sqrt(1e5) {
			t.Errorf("%d workers: %v arrivals, want 100,000 to four deviations", workers, n)
		}
		gaps := make([]float64, len(got)-1)
		for i := range gaps {
			gaps[i] = (got[i+1] - got[i]).Seconds()
		}
		var product float64
		for i := range len(gaps) - 1 {
			product += (gaps[i] - 1e-3) * (gaps[i+1] - 1e-3)
		}
		if r := product / float64(len(gaps)) / 1e-6; math.Abs(r) > 4/math.Sqrt(float64(len(gaps))) {
			t.Errorf("%d workers: neighbouring distances correlate, %v", workers, r)
		}
		// Kolmogorov and Smirnov's distance; 1.95/sqrt(n) is exceeded once in 1,000.
		slices.Sort(gaps)
		var d float64
		for i, g := range gaps {
			d = max(d, math.Abs(1-math.Exp(-1000*g)-float64(i)/float64(len(gaps))))
		}
		if most := 1.95 / math.Sqrt(float64(len(gaps))); d > most {
			t.Errorf("%d workers: distance %v from the exponential distribution, at most %v", workers, d, most)
		}
	}
}

func TestPoissonIsReproducible(t *testing.T) {
	a := Arrival{Kind: Poisson, Rate: 100, Seed: 1}
	b := Arrival{Kind: Poisson, Rate: 100, Seed: 2}
	one := dues(&a, 2, time.Minute)
	if !slices.Equal(one, dues(&a, 2, time.Minute)) || slices.Equal(one, dues(&b, 2, time.Minute)) {
		t.Error("the seed does not settle the arrivals")
	}
	p := a.Pacer(0, 1)
	first, _ := p.Due(0, 0)
	if again, _ := p.Due(0, time.Second); again != first {
		t.Errorf("asked again, request 0 is due at %v instead of %v", again, first)
	}
}

func TestRamp(t *testing.T) {
	a := Arrival{Kind: Constant, From: 100, Rate: 300, Over: 10 * time.Second, Hold: 5 * time.Second}
	for _, c := range []struct {
		until time.Duration
		want  int // 100 t, then 100 u + 10 u^2, then 300 t
	}{{5 * time.Second, 500}, {10 * time.Second, 500 + 500 + 250}, {15 * time.Second, 2500}, {20 * time.Second, 4000}} {
		if got := len(dues(&a, 2, c.until)); got < c.want-1 || got > c.want+1 {
			t.Errorf("%d requests until %v, want %d", got, c.until, c.want)
		}
		if got := a.Expected(c.until); math.Abs(got-float64(c.want)) > 1e-6 {
			t.Errorf("%v requests expected until %v, want %d", got, c.until, c.want)
		}
	}
}

// TestPacersOfAnyShape: times never go back, all workers together have as many
// as the curve says, and the inverse of the curve is one.
func TestPacersOfAnyShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 2000)
		a := Arrival{
			Kind: rapid.SampledFrom([]Kind{Constant, Poisson}).Draw(t, "kind"),
			Rate: rate.Draw(t, "rate"), From: rate.Draw(t, "from"), Seed: rapid.Uint64().Draw(t, "seed"),
			Over: time.Duration(rapid.IntRange(0, 2000).Draw(t, "over")) * time.Millisecond,
			Hold: time.Duration(rapid.IntRange(0, 500).Draw(t, "hold")) * time.Millisecond,
		}
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		workers := rapid.IntRange(1, 5).Draw(t, "workers")
		until := time.Duration(rapid.IntRange(1, 3000).Draw(t, "until")) * time.Millisecond
		for w := range workers {
			p := a.Pacer(w, workers)
			last := time.Duration(0)
			for n := range uint64(100) {
				at, more := p.Due(n, time.Hour)
				if !more || at < last {
					t.Fatalf("worker %d: request %d at %v after one at %v", w, n, at, last)
				}
				last = at
			}
		}
		want := a.Expected(until)
		slack := 1.001
		if a.Kind == Poisson {
			slack += 7 * math.Sqrt(want+1)
		}
		if got := float64(len(dues(&a, workers, until))); math.Abs(got-want) > slack {
			t.Fatalf("%v requests until %v, want %v", got, until, want)
		}
		c := a.curve()
		if back := c.at(want); math.Abs(float64(back-until)) > 1e3+1e-9*float64(until) {
			t.Fatalf("the inverse of %v is %v", until, back)
		}
	})
}

func TestClosed(t *testing.T) {
	a := Arrival{Think: time.Second}
	p := a.Pacer(0, 1)
	for done, want := range map[time.Duration]time.Duration{0: 0, time.Minute: 61 * time.Second} {
		if at, more := p.Due(3, done); at != want || !more {
			t.Errorf("after %v due at %v, want %v", done, at, want)
		}
	}
	if a.Open() || a.String() != "closed" || a.Expected(time.Second) != 0 {
		t.Error("the zero arrival is not a closed loop")
	}
}

func TestValidate(t *testing.T) {
	for want, a := range map[string]Arrival{
		"no rate":      {Rate: 1},
		"negative":     {Think: -1},
		"expected clo": {Kind: "uniform"},
		"rate above 0": {Kind: Constant},
		"up to 100000": {Kind: Poisson, Rate: math.NaN()},
		"closed loop":  {Kind: Poisson, Rate: 1, Think: 1},
		"ramp that":    {Kind: Poisson, Rate: 1, Over: 1},
		"duration is":  {Kind: Poisson, Rate: 1, Over: -1},
	} {
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one about %q", a, err, want)
		}
	}
}

func TestPacersAllocateNothing(t *testing.T) {
	for _, kind := range []Kind{Closed, Constant, Poisson} {
		a := Arrival{Kind: kind, Rate: 1000}
		p := a.Pacer(0, 1)
		n := uint64(0)
		if got := testing.AllocsPerRun(100, func() { p.Due(n, 1); n++ }); got != 0 {
			t.Errorf("%s: %v allocations a request", kind, got)
		}
	}
}
