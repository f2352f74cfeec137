package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
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
		{"client hemmed in", 6, claimCPU, func(_ int, r *bench.Run) {
			r.ClientCPUPercent, r.Client = bench.Number(20), &bench.Client{BusyPercent: bench.Number(71)}
		}, bench.ClientBound, "others left it"},
		{"client not hemmed in", 6, claimCPU, func(_ int, r *bench.Run) {
			r.ClientCPUPercent, r.Client = bench.Number(20), &bench.Client{BusyPercent: bench.Number(70)}
		}, bench.Valid, ""},
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
		{"stray bytes", 6, claimRate, func(i int, r *bench.Run) {
			if i == 3 {
				r.Client = &bench.Client{Stray: 1}
			}
		}, bench.RepliesWrong, "nobody had asked for"},
		{"a few sent again", 6, claimRate, func(_ int, r *bench.Run) { r.Client = &bench.Client{Stale: 10} }, bench.Valid, ""},
		{"many sent again", 6, claimRate, func(_ int, r *bench.Run) { r.Client = &bench.Client{Stale: 11} }, bench.Incomplete, "sent again"},
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

// judged returns the judgement of a cell with its own runs.
func judged(c *cell) judgement {
	m := summarise(c.plain())
	return c.judge(&m, len(c.runs))
}

func TestGates(t *testing.T) {
	closed := setting{clients: 10, keepalive: true}
	offered := setting{clients: 10, keepalive: true, arrival: pace.Arrival{Kind: pace.Poisson, Rate: 10_000}}
	floor := func(rate float64) *cell {
		return &cell{runs: made(6, func(_ int, r *bench.Run) { r.RequestsPerS = bench.Number(rate) })}
	}
	client := func(c bench.Client) func(int, *bench.Run) {
		return func(_ int, r *bench.Run) { r.Client = &c }
	}
	for _, c := range []struct {
		name    string
		load    setting
		ceiling *cell
		change  func(i int, r *bench.Run)
		want    bench.Verdict
		reason  string
	}{
		{"the client can do twice as much", closed, floor(20_000), nil, bench.Valid, ""},
		{"the client can do hardly more", closed, floor(19_000), nil, bench.ClientBound, "19000/s against a server that does next to nothing"},
		{"hardly more, at a lower rate offered", offered, floor(19_000), nil, bench.Valid, ""},
		{"Little's law holds", closed, nil, func(_ int, r *bench.Run) { r.Little = bench.Number(9.6) }, bench.Valid, ""},
		{"Little's law is off", closed, nil, func(_ int, r *bench.Run) { r.Little = bench.Number(9.4) }, bench.ClientBound, "off by 6 %"},
		{"too short for Little's law", closed, nil, func(_ int, r *bench.Run) { r.Little, r.Requests = bench.Number(9), 999 }, bench.Valid, ""},
		{"Little's law says nothing of an open loop", offered, nil, func(_ int, r *bench.Run) { r.Little = bench.Number(2) }, bench.Valid, ""},
		{"on schedule", offered, nil, client(bench.Client{Lagged: 90}), bench.Valid, ""},
		{"behind schedule", offered, nil, client(bench.Client{Lagged: 110}), bench.ClientBound, "schedule lag"},
		{"dropped", offered, nil, client(bench.Client{Dropped: 110}), bench.ClientBound, "never sent"},
		{"not the rate offered", offered, nil, func(_ int, r *bench.Run) { r.RequestsPerS = bench.Number(9_000) }, bench.Noisy, "10000/s were offered and 9000/s answered"},
		{"a little steal", closed, nil, func(_ int, r *bench.Run) { r.StealPercent = 1.9 }, bench.Valid, ""},
		{"steal", closed, nil, func(_ int, r *bench.Run) { r.StealPercent = 2.5 }, bench.Noisy, "steal time"},
		{"throttled once", closed, nil, func(i int, r *bench.Run) { r.ThrottledPercent = 5 * float64(i/5) }, bench.Noisy, "throttling"},
		{"drift", closed, nil, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(10_000 + 150*float64(i)) }, bench.Noisy, "drift"},
		{"small drift", closed, nil, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(10_000 + 50*float64(i)) }, bench.Valid, ""},
		{"up and down", closed, nil, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(10_000 + 150*float64(i*5%6)) }, bench.Valid, ""},
	} {
		j := judged(&cell{claims: claimRate, load: c.load, ceiling: c.ceiling, runs: made(6, c.change)})
		if j.verdict != c.want || !strings.Contains(strings.Join(j.reasons, "; "), c.reason) || (c.reason == "") != (len(j.reasons) == 0) {
			t.Errorf("%s: %s, %q", c.name, j.verdict, j.reasons)
		}
	}
}

func TestUnsettledRuns(t *testing.T) {
	runs := made(6, nil)
	for i := range runs[:4] {
		runs[i].unsettled = true
	}
	if j := judged(&cell{claims: claimRate, runs: runs}); j.verdict != bench.Noisy || !strings.Contains(j.reasons[0], "4 of 6") {
		t.Errorf("%+v", j)
	}
}

func TestWarmupsAreMadeLonger(t *testing.T) {
	c := &cell{load: setting{warmup: 200 * time.Millisecond}}
	run := func(settled float64) *roundRun {
		r := &roundRun{}
		r.WarmupS, r.SettledS = c.load.warmup.Seconds(), bench.Number(settled)
		return r
	}
	if r := run(0.2); c.extend(r) || r.Discarded != "" {
		t.Errorf("a run that had settled is discarded: %q", r.Discarded)
	}
	if r := run(0.6); !c.extend(r) || !strings.Contains(r.Discarded, "0.6 s") || c.load.warmup != 600*time.Millisecond {
		t.Errorf("a run that had not settled: %q, then %v", r.Discarded, c.load.warmup)
	}
	c.extend(run(0.7))
	if r := run(0.9); c.extend(r) {
		t.Error("a warm-up is made longer without end")
	}
	none := roundRun{}
	if c.extend(&none) {
		t.Error("a run of which nothing is known is discarded")
	}
}

func TestNoiseForbidsClaims(t *testing.T) {
	cpu := func(name string, micros float64) *cell {
		return &cell{name: name, runs: made(6, func(i int, r *bench.Run) { r.ServerCPUMicros = bench.Number(micros + float64(i)/100) })}
	}
	k := comparison{a: cpu("a", 11), b: cpu("b", 10), metric: claimCPU}
	for spread, want := range map[float64]bool{1: true, 1.05: true, 1.2: false} {
		got := k.evaluate(bench.Valid, bench.Valid, spread)
		if got.Claimed == nil || *got.Claimed != want || (got.Note == "") != want {
			t.Errorf("spread %v: claimed %v, %q", spread, *got.Claimed, got.Note)
		}
	}
	if got := k.evaluate(bench.Valid, bench.RepliesWrong, 1); got.Claimed != nil || !strings.Contains(got.Note, "b is replies-wrong") {
		t.Errorf("a cell that is not usable: %+v", got)
	}
	k = comparison{a: cpu("a", 10), b: cpu("b", 10), metric: claimCPU}
	if got := k.evaluate(bench.Valid, bench.Valid, 1); got.Claimed == nil || *got.Claimed {
		t.Errorf("no difference: %+v", got)
	}
	d := &design{controls: controls{twins: []*cell{cpu("a, A", 10), cpu("a, A again", 13)}}}
	doc := &bench.Document{Verdict: bench.Valid, Noise: d.noise()}
	judgeNoise(doc)
	if s := spreadOf(doc.Noise, claimCPU); doc.Verdict != bench.Noisy || math.Abs(s-1.3) > 0.01 || spreadOf(doc.Noise, claimRate) != 1 {
		t.Errorf("spread %v, %s, %q", s, doc.Verdict, doc.Reasons)
	}
}

func TestDiscardedRunsAreNotPaired(t *testing.T) {
	a, b := &cell{runs: made(7, nil)}, &cell{runs: made(6, nil)}
	a.runs[0].Discarded, a.runs[0].round, a.runs[0].RequestsPerS = "not settled", 1, bench.Number(1)
	for i := range a.runs[1:] {
		a.runs[i+1].round = i
	}
	as, bs := pairs(a, b, claimRate)
	if len(as) != 6 || len(bs) != 6 || slices.Contains(as, 1) {
		t.Errorf("%v and %v", as, bs)
	}
}

func TestRank(t *testing.T) {
	c := func(name string, rate float64) *cell {
		return &cell{name: name, handler: "x", claims: claimRate, runs: made(6, func(i int, r *bench.Run) { r.RequestsPerS = bench.Number(rate + 10*float64(i)) })}
	}
	r, ok := rank([]*cell{c("slow", 100), c("fast", 1000), c("as fast", 1020)})
	if want := [][]string{{"as fast", "fast"}, {"slow"}}; !ok || !slices.EqualFunc(r.Groups, want, slices.Equal) {
		t.Errorf("%+v", r)
	}
	other := c("other", 1)
	other.handler = "y"
	if _, ok := rank([]*cell{c("a", 1), c("b", 2), other}); ok {
		t.Error("cells that do different work are ranked")
	}
}

func TestSummarise(t *testing.T) {
	var runs []bench.Run
	for i, r := range made(8, nil) {
		r.RequestsPerS = bench.Number(float64(i + 1))
		r.LatencyMS.P99 = nil
		r.LatencyMS.P90 = bench.Number(2)
		if i > 3 { // only these have the samples for it
			r.LatencyMS.P999 = bench.Number(5)
		}
		r.Errors[bench.FaultReset] = 2
		runs = append(runs, r.Run)
	}
	runs[0].Discarded, runs[1].Error = "warm-up", "died"
	m := summarise(runs)
	if *m.RequestsPerS.Median != 5.5 || *m.RequestsPerS.Lo != 3 || *m.RequestsPerS.Hi != 8 || m.RequestsPerS.N != 6 {
		t.Errorf("rate: %+v", m.RequestsPerS)
	}
	if m.LatencyMS.P90 == nil || m.LatencyMS.P999 != nil {
		t.Errorf("quantiles are not those that all runs have: %+v", m.LatencyMS)
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
