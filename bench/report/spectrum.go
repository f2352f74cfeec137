package report

import (
	"bytes"
	"fmt"

	"github.com/weighstone/weighstone/bench"
)

// cardName is the experiment whose report shows one server from all sides.
const cardName = "card"

// spectrum writes the whole distribution of latencies of each cell, as far as
// it has the samples for it, with what was dropped before.
func spectrum(b *bytes.Buffer, all []bench.Cell) {
	t := newTable("latency, ms", ">p50", ">p90", ">p99", ">p99.9", ">max", ">mean", ">warm-up s")
	for i := range all {
		c := &all[i]
		q := &c.Metrics.LatencyMS
		if q.Max == nil {
			continue // a program that is no server
		}
		t.add(cellName(c), median(q.P50, significant), median(q.P90, significant), median(q.P99, significant), median(q.P999, significant),
			median(q.Max, significant), median(q.Mean, significant), median(c.WarmupS, significant))
	}
	if len(t.rows) > 1 {
		fmt.Fprintln(b)
		t.write(b)
	}
}
