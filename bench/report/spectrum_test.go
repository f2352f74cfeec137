package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
)

func TestCardShowsTheSpectrum(t *testing.T) {
	m := func(v float64) *bench.Metric { return &bench.Metric{Median: &v, N: 6} }
	c := bench.Cell{Name: "epoll 100.html", WarmupS: m(0.4)}
	c.Metrics.LatencyMS = bench.Quantiles[bench.Metric]{P50: m(0.51), P90: m(0.92), P99: m(1.53), Max: m(7.5), Mean: m(0.6)}
	d := &bench.Document{Schema: bench.Schema, Name: "card", Cells: []bench.Cell{c, {Name: "spawn"}}}
	var b bytes.Buffer
	if err := Text(&b, d); err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(b.String(), "latency, ms")
	line := strings.Fields(strings.Split(after, "\n")[1])
	if want := "epoll 100.html 0.510 0.920 1.53 - 7.50 0.600 0.400"; !found || strings.Join(line, " ") != want || strings.Contains(strings.SplitN(after, "\n\n", 2)[0], "spawn") {
		t.Errorf("%s", b.String())
	}
	d.Name, b = "floor", bytes.Buffer{}
	if err := Text(&b, d); err != nil || strings.Contains(b.String(), "latency, ms") {
		t.Errorf("another experiment: %v, %s", err, b.String())
	}
}
