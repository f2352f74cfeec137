package report

import "github.com/weighstone/weighstone/bench"

// A figure is one of a run's or a cell's figures, by the name that documents
// give it.
type figure[T any] struct {
	name  string
	value *T // nil for what is not known
}

// figures lists all of f, errors by cause aside, in the order of documents.
func figures[T any](f *bench.Figures[T]) []figure[T] {
	all := []figure[T]{
		{"requests_per_s", f.RequestsPerS},
		{"connections_per_s", f.ConnectionsPerS},
		{"throughput_mbit_s", f.ThroughputMbitS},
	}
	all = append(all, quantiles("latency_ms", &f.LatencyMS)...)
	all = append(all, quantiles("connect_ms", &f.ConnectMS)...)
	return append(all,
		figure[T]{"errors_per_s", f.ErrorsPerS},
		figure[T]{"little", f.Little},
		figure[T]{"server_cpu_percent", f.ServerCPUPercent},
		figure[T]{"server_cpu_us_per_request", f.ServerCPUMicros},
		figure[T]{"client_cpu_percent", f.ClientCPUPercent},
		figure[T]{"events_per_wait", f.EventsPerWait},
		figure[T]{"network_percent", f.NetworkPercent},
	)
}

func quantiles[T any](of string, q *bench.Quantiles[T]) []figure[T] {
	return []figure[T]{
		{of + ".p50", q.P50}, {of + ".p90", q.P90}, {of + ".p99", q.P99}, {of + ".p999", q.P999},
		{of + ".max", q.Max}, {of + ".mean", q.Mean},
	}
}
