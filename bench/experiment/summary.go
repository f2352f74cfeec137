package experiment

import (
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
)

// metricOf turns what several runs say of one figure into a metric.
func metricOf(s stat.Summary) *bench.Metric {
	return &bench.Metric{Median: bench.Number(s.Median), Lo: bench.Number(s.Lo), Hi: bench.Number(s.Hi), N: s.N}
}

// summarise returns the metrics over the runs that count.
func summarise(runs []bench.Run) bench.Figures[bench.Metric] {
	var kept []*bench.Figures[float64]
	var all bench.Figures[bench.Metric]
	for i := range runs {
		if runs[i].Discarded == "" && runs[i].Error == "" {
			kept = append(kept, &runs[i].Figures)
		}
		all.Errors.Add(&runs[i].Errors)
	}
	// median is nil where no run knows the figure.
	median := func(of func(*bench.Figures[float64]) *float64) *bench.Metric {
		var xs []float64
		for _, f := range kept {
			if v := of(f); v != nil {
				xs = append(xs, *v)
			}
		}
		if len(xs) == 0 {
			return nil
		}
		return metricOf(stat.Median(xs))
	}
	// A quantile that only some runs have the samples for would be that of the
	// fast runs alone.
	common := func(of func(*bench.Figures[float64]) *float64) *bench.Metric {
		m := median(of)
		if m == nil || m.N < len(kept) {
			return nil
		}
		return m
	}
	type figures = bench.Figures[float64]
	quantiles := func(of func(*figures) *bench.Quantiles[float64]) bench.Quantiles[bench.Metric] {
		return bench.Quantiles[bench.Metric]{
			P50:  common(func(f *figures) *float64 { return of(f).P50 }),
			P90:  common(func(f *figures) *float64 { return of(f).P90 }),
			P99:  common(func(f *figures) *float64 { return of(f).P99 }),
			P999: common(func(f *figures) *float64 { return of(f).P999 }),
			Max:  median(func(f *figures) *float64 { return of(f).Max }),
			Mean: median(func(f *figures) *float64 { return of(f).Mean }),
		}
	}
	all.RequestsPerS = median(func(f *figures) *float64 { return f.RequestsPerS })
	all.ConnectionsPerS = median(func(f *figures) *float64 { return f.ConnectionsPerS })
	all.ThroughputMbitS = median(func(f *figures) *float64 { return f.ThroughputMbitS })
	all.LatencyMS = quantiles(func(f *figures) *bench.Quantiles[float64] { return &f.LatencyMS })
	all.ConnectMS = quantiles(func(f *figures) *bench.Quantiles[float64] { return &f.ConnectMS })
	all.ErrorsPerS = median(func(f *figures) *float64 { return f.ErrorsPerS })
	all.Little = median(func(f *figures) *float64 { return f.Little })
	all.ServerCPUPercent = median(func(f *figures) *float64 { return f.ServerCPUPercent })
	all.ServerCPUMicros = median(func(f *figures) *float64 { return f.ServerCPUMicros })
	all.ClientCPUPercent = median(func(f *figures) *float64 { return f.ClientCPUPercent })
	all.EventsPerWait = median(func(f *figures) *float64 { return f.EventsPerWait })
	all.NetworkPercent = median(func(f *figures) *float64 { return f.NetworkPercent })
	return all
}
