package study

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

// made is a study of two servers, and a document with six runs of each: rates,
// and microseconds of CPU for a reply.
func made(fast, slow, fastCPU, slowCPU [6]float64) (*Study, *bench.Document) {
	s := &Study{Name: "made", Claimed: "the fast one is faster", Servers: []Server{{Key: "fast", Variant: "quick"}, {Key: "slow", Variant: "lazy"}},
		Loads: []Load{{Key: "page", Label: "a page"}}}
	d := &bench.Document{Verdict: bench.Valid, Design: &bench.Design{Repetitions: 6}}
	for i, rates := range [][6]float64{fast, slow} {
		c := bench.Cell{Name: s.Cell(Point{s.Servers[i].Key, "page", 8}), Verdict: bench.Valid}
		c.Metrics.ServerCPUPercent = &bench.Metric{Median: bench.Number(99)}
		for k, rate := range rates {
			var r bench.Run
			r.Requests = 1000
			r.RequestsPerS, r.ServerCPUMicros = bench.Number(rate), bench.Number([][6]float64{fastCPU, slowCPU}[i][k])
			c.Runs = append(c.Runs, r)
		}
		d.Cells = append(d.Cells, c)
	}
	return s, d
}

func at(server string) Point { return Point{server, "page", 8} }

func faster(m Metric, want Range) Claim {
	return Claim{"the fast one is faster", ratio(m, at("fast"), at("slow")), want}
}

var (
	steady = [6]float64{100, 101, 99, 100, 102, 98}
	double = [6]float64{200, 202, 198, 200, 204, 196}
	wild   = [6]float64{50, 220, 70, 180, 60, 300}
)

// outcome is a judgement in a word, with what goes with it.
func outcome(c bench.Conclusion) string {
	switch {
	case c.Holds == nil:
		return "open: " + c.Reason
	case *c.Holds:
		return "holds: " + c.Margin
	}
	return "fails: " + c.Margin
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		claim      Claim
		fast, slow [6]float64
		change     func(*bench.Document)
		want       string // the beginning
	}{
		"holds":             {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady, want: "holds: the nearer end of the interval is 2, the bound 1: a factor of 2"},
		"fails":             {claim: faster(Requests, Range{Lo: 3}), fast: double, slow: steady, want: "fails: the nearer end of the interval is 2, the bound 3: a factor of 1.5"},
		"is wild":           {claim: faster(Requests, Range{Lo: 1}), fast: wild, slow: steady, want: "open: the interval holds both"},
		"equal":             {claim: faster(Requests, Range{Lo: .8, Hi: 1.25}), fast: steady, slow: steady, want: "holds: the nearer end of the interval is 1"},
		"not equal":         {claim: faster(Requests, Range{Lo: .8, Hi: 1.25}), fast: double, slow: steady, want: "fails: the nearer end of the interval is 2, the bound 1.25"},
		"less":              {claim: faster(Requests, Range{Hi: 1}), fast: double, slow: steady, want: "fails"},
		"CPU says the same": {claim: faster(Capacity, Range{Lo: 1.5}), fast: steady, slow: steady, want: "holds: the nearer end of the interval is 2, the bound 1.5: a factor of 1.33"},
		"not measured": {claim: faster(Throughput, Range{Lo: 1}), fast: double, slow: steady,
			want: `open: nothing is known of the throughput of "quick, a page, 8 clients"`},
		"not run": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells = d.Cells[:1] }, want: `open: "lazy, a page, 8 clients" was not run`},
		"wrong": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) {
				d.Cells[0].Verdict, d.Cells[0].Reasons = bench.RepliesWrong, []string{"a byte"}
			},
			want: `open: "quick, a page, 8 clients" is replies-wrong: a byte`},
		"few": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[1].Runs = d.Cells[1].Runs[:5] }, want: "open: 5 runs are too few for an interval, which takes 6"},
		"discarded": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[0].Runs[0].Discarded = "early" }, want: "open: 5 runs"},
		"within noise": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) {
				d.Noise = []bench.Noise{{Metric: "requests_per_s", Spread: bench.Number(2.5)}}
			}, want: "open: the same server twice differs by a factor of up to 2.5"},
		"at least": {claim: faster(Requests, Range{Lo: 1.5}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[0].Metrics.ServerCPUPercent = nil }, want: "holds"},
		"at least so much is not too much": {claim: faster(Requests, Range{Lo: 3}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[0].Metrics.ServerCPUPercent = nil }, want: "open: the rate of a server whose core was under 95 %"},
		"the slower could do more": {claim: faster(Requests, Range{Lo: 1}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[1].Metrics.ServerCPUPercent = nil }, want: "open: the rate of a server"},
		"but not by CPU": {claim: faster(Capacity, Range{Lo: 1.5}), fast: double, slow: steady,
			change: func(d *bench.Document) { d.Cells[1].Metrics.ServerCPUPercent = nil }, want: "holds"},
		"flat": {claim: Claim{"flat", Evenness{Requests, []Point{at("fast"), at("slow")}}, Range{Lo: .85}}, fast: steady, slow: steady, want: "holds"},
		"not flat": {claim: Claim{"flat", Evenness{Requests, []Point{at("fast"), at("slow")}}, Range{Lo: .85}}, fast: steady, slow: double,
			want: "fails: the nearer end of the interval is 0.5"},
		"in order":     {claim: Claim{"order", Order{Requests, []Point{at("fast"), at("slow")}}, Range{Lo: 1}}, fast: double, slow: steady, want: "holds"},
		"not in order": {claim: Claim{"order", Order{Requests, []Point{at("slow"), at("fast")}}, Range{Lo: 1}}, fast: double, slow: steady, want: "fails"},
		"three agree":  {claim: Claim{"repeats", Repeats{Requests, at("fast"), 3}, Range{Hi: .05}}, fast: steady, slow: steady, want: "holds"},
		"three do not": {claim: Claim{"repeats", Repeats{Requests, at("fast"), 3}, Range{Hi: .05}}, fast: wild, slow: steady, want: "fails"},
		"no errors": {claim: Claim{"errors", ErrorShare{[]Point{at("fast")}}, Range{Hi: .001}}, fast: steady, slow: steady,
			want: "holds: the nearer end of the interval is 0.00064, the bound 0.001"},
		"errors": {claim: Claim{"errors", ErrorShare{[]Point{at("fast")}}, Range{Hi: .001}}, fast: steady, slow: steady,
			change: func(d *bench.Document) { d.Cells[0].Metrics.Errors[bench.FaultReset] = 600 }, want: "fails: the nearer end of the interval is 0.08"},
		"a level": {claim: Claim{"level", Level{Requests, at("fast")}, Range{Lo: 90, Hi: 110}}, fast: steady, slow: steady, want: "holds"},
	} {
		cpu := [6]float64{10, 10, 10, 10, 10, 10}
		s, d := made(c.fast, c.slow, cpu, [6]float64{20, 20, 20, 20, 20, 20})
		if c.change != nil {
			c.change(d)
		}
		s.Claims = []Claim{c.claim}
		got := s.Judge(d).Conclusions[0]
		if !strings.HasPrefix(outcome(got), c.want) {
			t.Errorf("%s: %q, want %q (%+v)", name, outcome(got), c.want, got)
		}
		if (got.Holds == nil) == (got.Reason == "") || (got.Holds == nil) != (got.Margin == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSummary: three sentences say what was claimed, what was measured, and
// what holds, with figures.
func TestSummary(t *testing.T) {
	flat := [6]float64{10, 10, 10, 10, 10, 10}
	s, d := made(double, steady, flat, flat)
	s.Servers[0].Published = "Zeus"
	d.Cells[0].Name = s.Cell(at("fast"))
	s.Servers = append(s.Servers, Server{Key: "whole", Variant: "whole", Published: "IIS"}) // a quick look has it not
	s.Full = []Unit{{at("fast"), at("slow"), at("whole")}}
	s.Claims = []Claim{faster(Requests, Range{Lo: 1}), faster(Requests, Range{Lo: 3}), faster(Throughput, Range{Lo: 1})}
	want := []string{
		"The study claimed: the fast one is faster.",
		"Measured here were quick (in place of Zeus), at 2 loads, 6 runs each.",
		"Of its 3 conclusions 1 holds here (the fast one is faster: 2), 1 does not (the fast one is faster: 2), and 1 can't be judged.",
	}
	if got := s.Judge(d).Summary; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestSummaryShort: where many conclusions hold, the sentence names three of
// them and counts the others; a server that stands for several is named once.
func TestSummaryShort(t *testing.T) {
	flat := [6]float64{10, 10, 10, 10, 10, 10}
	s, d := made(double, steady, flat, flat)
	for i := range s.Servers {
		s.Servers[i].Variant, s.Servers[i].Published = "quick", fmt.Sprintf("Zeus %d", i+1)
		d.Cells[i].Name = s.Cell(at(s.Servers[i].Key))
	}
	s.Full = []Unit{{at("fast"), at("slow")}}
	for range 5 {
		s.Claims = append(s.Claims[:len(s.Claims):len(s.Claims)], faster(Requests, Range{Lo: 1}))
	}
	s.Claims = s.Claims[len(s.Claims)-5:]
	got := s.Judge(d).Summary
	if want := "Of its 5 conclusions 5 hold here (the fast one is faster: 2; the fast one is faster: 2; the fast one is faster: 2; and 2 more), 0 do not, and 0 can't be judged."; got[2] != want {
		t.Errorf("got  %q\nwant %q", got[2], want)
	}
	if want := "Measured here were quick (in place of Zeus 1 and Zeus 2), at 2 loads, 6 runs each."; got[1] != want {
		t.Errorf("got  %q\nwant %q", got[1], want)
	}
}

// TestShares checks Wilson's interval against figures of Newcombe, "Two-sided
// confidence intervals for the single proportion", Statistics in Medicine 17,
// 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		k, n float64
		want string
	}{{81, 263, "0.2553 0.3662"}, {15, 148, "0.0624 0.1605"}, {0, 20, "0.0000 0.1611"}, {1, 29, "0.0061 0.1718"}} {
		lo, hi := wilson(c.k, c.n)
		if got := fmt.Sprintf("%.4f %.4f", lo, hi); got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.k, c.n, got, c.want)
		}
	}
}
