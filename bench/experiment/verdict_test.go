package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

// made returns n runs that all have the same figures.
func made(n int, change func(i int, r *bench.Run)) []roundRun {
	var runs []roundRun
	for i := range n {
		r := bench.Run{Requests: 10_000}
		r.RequestsPerS, r.ServerCPUMicros = bench.Number(10_000), bench.Number(95)
		r.ServerCPUPercent, r.ClientCPUPercent = bench.Number(97), bench.Number(60)
		if change != nil {
			change(i, &r)
		}
		runs = append(runs, roundRun{round: i, Run: r})
	}
	return runs
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		runs   int
		claims metric
		change func(i int, r *bench.Run)
		want   bench.Verdict
		reason string
	}{
		{"all well", 6, claimRate, nil, bench.Valid, ""},
		{"client busy and server not", 6, claimRate, func(_ int, r *bench.Run) {
			r.ServerCPUPercent, r.ClientCPUPercent = bench.Number(80), bench.Number(90)
		}, bench.ClientBound, "at least"},
		{"client busy, no rate claimed", 6, claimCPU, func(_ int, r *bench.Run) { r.ClientCPUPercent = bench.Number(71) }, bench.ClientBound, "71 %"},
		{"neither busy", 6, claimRate, func(_ int, r *bench.Run) {
			r.ServerCPUPercent, r.ClientCPUPercent = bench.Number(80), bench.Number(50)
		}, bench.ClientBound, "not all it can do"},
		{"neither busy, no rate claimed", 6, claimCPU, func(_ int, r *bench.Run) {
			r.ServerCPUPercent, r.ClientCPUPercent = bench.Number(80), bench.Number(50)
		}, bench.Valid, ""},
		{"server elsewhere, client busy", 6, claimRate, func(_ int, r *bench.Run) {
			r.ServerCPUPercent, r.ClientCPUPercent = nil, bench.Number(90)
		}, bench.ClientBound, "not known"},
		{"server elsewhere, client at ease", 6, claimRate, func(_ int, r *bench.Run) {
			r.ServerCPUPercent, r.ClientCPUPercent = nil, bench.Number(20)
		}, bench.Valid, "not known"},
		{"server elsewhere, its CPU claimed", 6, claimCPU, func(_ int, r *bench.Run) { r.ServerCPUMicros = nil }, bench.Valid, "not started here"},
		{"too few runs", 5, claimRate, nil, bench.Incomplete, "5 of 6"},
		{"a failed run", 6, claimRate, func(i int, r *bench.Run) {
			if i == 3 {
				r.Error = "it died"
			}
		}, bench.Incomplete, "it died"},
		{"one wrong byte", 6, claimRate, func(i int, r *bench.Run) {
			if i == 3 {
				r.Errors[bench.FaultContent] = 1
			}
		}, bench.RepliesWrong, "content"},
		{"want of ports", 6, claimRate, func(_ int, r *bench.Run) { r.Errors[bench.FaultLocal] = 5 }, bench.ClientBound, "own want"},
		{"a few resets", 6, claimRate, func(_ int, r *bench.Run) { r.Errors[bench.FaultReset] = 5 }, bench.Valid, "reset"},
		{"many refused", 6, claimRate, func(_ int, r *bench.Run) { r.Errors[bench.FaultRefused] = 500 }, bench.Incomplete, "refused"},
		{"wide", 6, claimRate, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(10_000 * math.Pow(1.2, float64(i*5%6))) }, bench.Noisy, "wide"},
		{"wide, of no concern", 6, claimCPU, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(10_000 * math.Pow(1.2, float64(i*5%6))) }, bench.Valid, ""},
	} {
		cell := &cell{claims: c.claims, runs: made(c.runs, c.change)}
		var runs []bench.Run
		for _, r := range cell.runs {
			runs = append(runs, r.Run)
		}
		m := summarise(runs)
		j := cell.judge(&m, 6)
		if j.verdict != c.want || !strings.Contains(strings.Join(j.reasons, "; "), c.reason) || (c.reason == "") != (len(j.reasons) == 0) {
			t.Errorf("%s: %s, %q", c.name, j.verdict, j.reasons)
		}
	}
}

func TestSummarise(t *testing.T) {
	var runs []bench.Run
	for i, r := range made(8, nil) {
		r.RequestsPerS = bench.Number(float64(i + 1))
		r.LatencyMS.P99 = nil
		r.Errors[bench.FaultReset] = 2
		runs = append(runs, r.Run)
	}
	runs[0].Discarded, runs[1].Error = "warm-up", "died"
	m := summarise(runs)
	if *m.RequestsPerS.Median != 5.5 || *m.RequestsPerS.Lo != 3 || *m.RequestsPerS.Hi != 8 || m.RequestsPerS.N != 6 {
		t.Errorf("rate: %+v", m.RequestsPerS)
	}
	if m.LatencyMS.P99 != nil || m.NetworkPercent != nil {
		t.Error("there is a figure that no run has")
	}
	if m.Errors[bench.FaultReset] != 16 {
		t.Errorf("errors: %v", m.Errors)
	}
	if few := summarise(runs[:5]); few.RequestsPerS.Lo != nil || few.RequestsPerS.N != 3 {
		t.Errorf("three runs: %+v", few.RequestsPerS)
	}
}

func TestEvaluate(t *testing.T) {
	cellOf := func(name string, cpu float64, n int) *cell {
		return &cell{name: name, runs: made(n, func(i int, r *bench.Run) { r.ServerCPUMicros = bench.Number(cpu + float64(i)/100) })}
	}
	agrees := func(b *bool) string {
		if b == nil {
			return "unknown"
		}
		return map[bool]string{true: "yes", false: "no"}[*b]
	}
	for _, c := range []struct {
		name      string
		a, b      *cell
		published float64
		a1, b1    bench.Verdict
		agrees    string
		interval  bool
	}{
		{"same side", cellOf("a", 20, 6), cellOf("b", 10, 6), 4.5, bench.Valid, bench.Noisy, "yes", true},
		{"other side", cellOf("a", 10, 6), cellOf("b", 20, 6), 4.5, bench.Valid, bench.Valid, "no", true},
		{"not usable", cellOf("a", 20, 6), cellOf("b", 10, 6), 4.5, bench.Valid, bench.Incomplete, "unknown", true},
		{"nothing published", cellOf("a", 20, 6), cellOf("b", 10, 6), 0, bench.Valid, bench.Valid, "unknown", true},
		{"no difference", cellOf("a", 10, 6), cellOf("b", 10, 6), 4.5, bench.Valid, bench.Valid, "unknown", true},
		{"few runs", cellOf("a", 20, 5), cellOf("b", 10, 6), 4.5, bench.Valid, bench.Valid, "unknown", false},
		{"no runs", cellOf("a", 20, 0), cellOf("b", 10, 6), 4.5, bench.Valid, bench.Valid, "unknown", false},
	} {
		k := comparison{a: c.a, b: c.b, metric: claimCPU, published: c.published}
		got := k.evaluate(c.a1, c.b1, 1)
		if agrees(got.Agrees) != c.agrees || (got.Lo != nil) != c.interval || (got.Hi != nil) != c.interval || (got.Published != nil) != (c.published != 0) {
			t.Errorf("%s: %+v, agrees %s", c.name, got, agrees(got.Agrees))
		}
	}
}

func TestClientBoundRatesAreBounds(t *testing.T) {
	rates := func(rate float64) *cell {
		return &cell{runs: made(6, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(rate + float64(i)) })}
	}
	for _, c := range []struct {
		a, b   float64
		va, vb bench.Verdict
		known  bool
	}{
		{2000, 1000, bench.ClientBound, bench.Valid, true}, // could have been faster still
		{2000, 1000, bench.Valid, bench.ClientBound, false},
		{1000, 2000, bench.Valid, bench.ClientBound, true},
		{1000, 2000, bench.ClientBound, bench.Valid, false},
		{2000, 1000, bench.ClientBound, bench.ClientBound, false},
		{2000, 1000, bench.RepliesWrong, bench.Valid, false},
	} {
		k := comparison{a: rates(c.a), b: rates(c.b), metric: claimRate, published: 4.5}
		if got := k.evaluate(c.va, c.vb, 1); (got.Agrees != nil) != c.known {
			t.Errorf("%+v: agrees is %v", c, got.Agrees)
		}
	}
}

func TestCrowded(t *testing.T) {
	runs := made(6, func(_ int, r *bench.Run) { r.ServerCPUPercent = bench.Number(60) })
	for i := range runs {
		runs[i].crowding = crowding{server: 38, client: 3}
	}
	c := &cell{claims: claimRate, runs: runs}
	var plain []bench.Run
	for _, r := range runs {
		plain = append(plain, r.Run)
	}
	m := summarise(plain)
	if j := c.judge(&m, 6); j.verdict != bench.Noisy || !strings.Contains(j.reasons[0], "38 % of the server's core") {
		t.Errorf("%+v", j)
	}
}
