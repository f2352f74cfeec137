package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

// recorded is a document with a cell of each of two servers, whose rates are
// as given and a little apart from run to run.
func recorded(seed int, epoll, poll float64) *bench.Document {
	d := &bench.Document{Schema: bench.Schema, Verdict: bench.Valid, Environment: bench.Environment{
		Kernel: "Linux 6", CPU: "one", Cores: 2, Fixtures: "abc",
	}}
	for name, rate := range map[string]float64{"epoll": epoll, "poll": poll} {
		c := bench.Cell{Name: name + ", 10 active", Variant: name, Handler: "100.html", Load: bench.Load{Clients: 10, Keepalive: true, Arrival: "closed"}, Verdict: bench.Valid}
		for i := range 8 {
			r := bench.Run{Requests: 1000}
			r.RequestsPerS = bench.Number(rate * (1 + 0.0025*float64((3*i+seed)%8)))
			r.ServerCPUMicros = bench.Number(1e6 / *r.RequestsPerS)
			c.Runs = append(c.Runs, r)
		}
		d.Cells = append(d.Cells, c)
	}
	return d
}

func TestCompare(t *testing.T) {
	doc, err := Compare(recorded(1, 10_000, 8_000), recorded(2, 10_000, 9_600), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Comparisons) != 4 || len(doc.Cells) != 2 || doc.Verdict != bench.Valid {
		t.Fatalf("%+v", doc)
	}
	for _, c := range doc.Comparisons {
		differs := strings.HasPrefix(c.Name, "poll")
		if c.Claimed == nil || *c.Claimed != differs || c.How != "unpaired" || c.P == nil || (*c.P < 0.01) != differs {
			t.Errorf("%s %s: %v, claimed %v, p %v", c.Name, c.Metric, *c.Ratio, c.Claimed, c.P)
		}
		if differs && c.Metric == string(claimRate) && (*c.Lo > 1.2 || *c.Hi < 1.2) {
			t.Errorf("the ratio 1.2 is not in %v to %v", *c.Lo, *c.Hi)
		}
	}
}

func TestCompareHeedsTheNoise(t *testing.T) {
	old, now := recorded(1, 10_000, 8_000), recorded(2, 10_000, 9_600)
	now.Noise = []bench.Noise{{Metric: string(claimRate), Spread: bench.Number(1.5)}}
	doc, err := Compare(old, now, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Comparisons {
		if c.Metric == string(claimRate) && (*c.Claimed || strings.HasPrefix(c.Name, "poll") && !strings.Contains(c.Note, "1.5")) {
			t.Errorf("%+v", c)
		}
	}
	now.Cells[0].Verdict, now.Cells[0].Reasons = bench.RepliesWrong, []string{"3 replies"}
	doc, err = Compare(old, now, false)
	if err != nil || doc.Verdict != bench.RepliesWrong || !strings.Contains(strings.Join(doc.Reasons, " "), "3 replies") {
		t.Errorf("%v, %v", doc, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	for what, change := range map[string]func(e *bench.Environment){
		"kernel":   func(e *bench.Environment) { e.Kernel = "Linux 7" },
		"cores":    func(e *bench.Environment) { e.Cores = 4 },
		"fixtures": func(e *bench.Environment) { e.Fixtures = "xyz" },
	} {
		old, now := recorded(1, 10, 10), recorded(2, 10, 10)
		change(&now.Environment)
		_, err := Compare(old, now, false)
		if !errors.Is(err, ErrDifferent) || !strings.Contains(err.Error(), what+": old") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
		doc, err := Compare(old, now, true)
		if err != nil || doc.Verdict != bench.Noisy || !strings.Contains(doc.Reasons[0], what) {
			t.Errorf("%s by force: %+v, %v", what, doc, err)
		}
	}
	now := recorded(2, 10, 10)
	for i := range now.Cells {
		now.Cells[i].Load.Clients = 11
	}
	if _, err := Compare(recorded(1, 10, 10), now, false); !errors.Is(err, ErrDifferent) {
		t.Errorf("no cell in common: %v", err)
	}
	now = recorded(2, 10, 10)
	now.Cells[0].Load.Rate, now.Cells[0].Load.Arrival = bench.Number(5), "poisson"
	doc, err := Compare(recorded(1, 10, 10), now, false)
	if err != nil || len(doc.Cells) != 1 || len(doc.Reasons) != 2 {
		t.Errorf("one cell in common: %+v, %v", doc, err)
	}
}
