package report

import (
	"math"

	"github.com/weighstone/weighstone/bench"
)

// A total is all counted runs of a cell together.
type total struct {
	runs         int
	seconds      float64
	good, errors uint64
	pages        uint64

	connect, reply, replyBytes, bodyBytes bench.Moments
}

func totals(c *bench.Cell) (t total) {
	for i := range c.Runs {
		r := &c.Runs[i]
		if !counts(r) {
			continue
		}
		t.runs++
		t.seconds += r.ElapsedS
		t.good += r.Requests
		t.errors += r.Errors.Total()
		if k := r.Client; k != nil {
			t.pages += k.Pages
			t.connect, t.reply = pool(t.connect, k.ConnectTimeMS), pool(t.reply, k.ReplyTimeMS)
			t.replyBytes, t.bodyBytes = pool(t.replyBytes, k.ReplyBytes), pool(t.bodyBytes, k.BodyBytes)
		}
	}
	return t
}

// counts says whether a run is among those that the metrics sum up.
func counts(r *bench.Run) bool { return r.Discarded == "" && r.Error == "" }

// pool returns the moments of the values of both together: what one would
// have found in a single run with all of them.
func pool(a, b bench.Moments) bench.Moments {
	if a.N == 0 || a.Mean == nil {
		return b
	}
	if b.N == 0 || b.Mean == nil {
		return a
	}
	na, nb := float64(a.N), float64(b.N)
	out := bench.Moments{N: a.N + b.N}
	mean := (na**a.Mean + nb**b.Mean) / (na + nb)
	out.Mean = &mean
	apart := *a.Mean - *b.Mean
	squares := na * nb / (na + nb) * apart * apart
	for _, m := range []*bench.Moments{&a, &b} {
		if m.SD != nil {
			squares += (float64(m.N) - 1) * *m.SD * *m.SD
		}
	}
	out.SD = bench.Number(math.Sqrt(squares / (na + nb - 1)))
	if a.Min != nil && b.Min != nil {
		out.Min = bench.Number(min(*a.Min, *b.Min))
	}
	if a.Max != nil && b.Max != nil {
		out.Max = bench.Number(max(*a.Max, *b.Max))
	}
	return out
}
