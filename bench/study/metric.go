package study

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// A Metric names a figure, as the published tables do where they have it.
type Metric string

// The metrics. A connection of WebStone is one request with its reply.
const (
	Connections Metric = "connections_per_s"
	Throughput  Metric = "throughput_mbit_s"
	Response    Metric = "response_time_s"
	Latency     Metric = "latency_s" // the same, as the study of 1997 calls it
	Errors      Metric = "errors_per_s"
	CPU         Metric = "cpu_percent"
	Network     Metric = "network_percent"

	// Capacity is how many replies a second of the server's processor makes.
	// Where a study's processor was the limit, as its CPU figures say, this is
	// the rate; here the client or the other core may be the limit, and the
	// rate says less than the server can do.
	Capacity Metric = "capacity_per_s"

	// BestOfThree is the highest rate of the first three runs, as studies had
	// it that gave one figure.
	BestOfThree Metric = "best_of_3_requests_per_s"

	// Conforming are the connections that had their rate under the SPECweb99-style
	// workload, Held the same of a run that passed as a whole, and 0 of one that
	// did not; PerProcessor are those for each of the server's processors.
	Attempted    Metric = "attempted"
	Conforming   Metric = "conforming_connections"
	Held         Metric = "held_connections"
	PerProcessor Metric = "per_cpu"
	// Posts were sent; Findings are the records and replies that are not as they
	// should be.
	Posts    Metric = "posts"
	Findings Metric = "broken"

	// What ab reports, beside percentiles as "p50_ms".
	Requests     Metric = "requests_per_s"
	Taken        Metric = "time_s"
	PerRequest   Metric = "ms_per_request" // times the concurrency
	Across       Metric = "ms_per_request_across"
	Transferred  Metric = "total_bytes"
	HTML         Metric = "html_bytes"
	TransferRate Metric = "transfer_kbytes_per_s" // of 1,024
	Longest      Metric = "p100_ms"
	ConnectMax   Metric = "connect_max_ms"
)

// words are the metrics' names and units for readers.
func words() map[Metric][2]string {
	return map[Metric][2]string{
		Connections: {"connections", "connections/s"}, Throughput: {"throughput", "Mbit/s (10^6 bits)"},
		Response: {"response time", "s"}, Latency: {"latency", "s"}, Errors: {"errors", "errors/s"},
		CPU: {"server CPU", "% of a core"}, Network: {"network", "% of the link"},
		Capacity: {"capacity", "replies a second of server CPU"}, BestOfThree: {"best of three", "requests/s"},
		Requests: {"requests", "requests/s"},
		Taken:    {"time taken", "s"}, PerRequest: {"time per request", "ms"}, Across: {"time per request across all", "ms"},
		Transferred: {"transferred", "bytes"}, HTML: {"HTML transferred", "bytes"}, TransferRate: {"transfer rate", "Kbytes/s"},
		Attempted: {"connections attempted", "connections"}, Conforming: {"conforming connections", "connections"}, Held: {"connections held", "connections"},
		PerProcessor: {"conforming connections a processor", "connections"},
		Posts:        {"POSTs", "POSTs"}, Findings: {"broken records and replies", "of all"},
		Longest: {"longest request", "ms"}, ConnectMax: {"longest connect", "ms"},
	}
}

// Words are the metric's name and unit for a reader.
func (m Metric) Words() (name, unit string) {
	if w, ok := words()[m]; ok {
		return w[0], w[1]
	}
	return string(m), ""
}

// of is the metric's value in a run with so many clients, nil when it is not
// known.
func (m Metric) of(r *bench.Run, clients int) *float64 {
	switch m {
	case Connections, Requests, BestOfThree:
		return r.RequestsPerS
	case Throughput:
		return r.ThroughputMbitS
	case Response, Latency:
		return scaled(r.LatencyMS.Mean, 1e-3)
	case Errors:
		return r.ErrorsPerS
	case CPU:
		return r.ServerCPUPercent
	case Network:
		return r.NetworkPercent
	case Capacity:
		return inverse(r.ServerCPUMicros, 1e6)
	case PerRequest:
		return inverse(r.RequestsPerS, 1e3*float64(clients))
	case Across:
		return inverse(r.RequestsPerS, 1e3)
	case Taken:
		return bench.Number(r.ElapsedS)
	case Transferred, HTML, TransferRate:
		return m.bytes(r)
	case Longest:
		return r.LatencyMS.Max
	case ConnectMax:
		return r.ConnectMS.Max
	}
	if r.Specweb != nil {
		return m.connections(r.Specweb)
	}
	return m.percentile(r)
}

// connections is one of the metrics of the SPECweb99-style workload.
func (m Metric) connections(s *bench.Specweb) *float64 {
	switch {
	case m == Attempted:
		return bench.Number(float64(s.Connections))
	case m == Posts:
		return bench.Number(float64(s.Posts))
	case m == Findings:
		return bench.Number(float64(s.Broken()))
	case m == Held && !s.Passed:
		return bench.Number(0)
	case m == Held, m == Conforming:
		return bench.Number(float64(s.Conforming))
	case m == PerProcessor && s.Processors > 0:
		return bench.Number(float64(s.Conforming) / float64(s.Processors))
	}
	return nil
}

// percent is the 95 of a metric such as "p95_ms".
func (m Metric) percent() (float64, bool) {
	text, begins := strings.CutPrefix(string(m), "p")
	text, ends := strings.CutSuffix(text, "_ms")
	p, err := strconv.ParseFloat(text, 64)
	return p, begins && ends && err == nil
}

// percentile is a metric such as "p95_ms".
func (m Metric) percentile(r *bench.Run) *float64 {
	p, ok := m.percent()
	if !ok || r.Client == nil {
		return nil
	}
	for _, at := range r.Client.Spectrum {
		if math.Abs(100*at.Q-p) < 1e-9 {
			return bench.Number(at.MS)
		}
	}
	return nil
}

// bytes is one of the metrics that count them.
func (m Metric) bytes(r *bench.Run) *float64 {
	if r.Client == nil {
		return nil
	}
	moments := r.Client.ReplyBytes
	if m == HTML {
		moments = r.Client.BodyBytes
	}
	sum := scaled(moments.Mean, float64(moments.N))
	if m == TransferRate && r.ElapsedS > 0 {
		return scaled(sum, 1/(1024*r.ElapsedS))
	}
	return sum
}

func scaled(v *float64, factor float64) *float64 {
	if v == nil {
		return nil
	}
	return bench.Number(*v * factor)
}

func inverse(v *float64, of float64) *float64 {
	if v == nil || *v <= 0 {
		return nil
	}
	return bench.Number(of / *v)
}

// values are the metric's in the runs of a cell that count; of one that is of
// several runs, there is a single value.
func (m Metric) values(c *bench.Cell) []float64 {
	var xs []float64
	for i := range c.Runs {
		r := &c.Runs[i]
		if v := m.of(r, c.Load.Clients); v != nil && r.Discarded == "" && r.Error == "" {
			xs = append(xs, *v)
		}
	}
	if m == BestOfThree && len(xs) > 0 {
		return []float64{slices.Max(xs[:min(3, len(xs))])}
	}
	return xs
}

// rate says whether the metric is one that a busy client holds down.
func (m Metric) rate() bool { return slices.Contains([]Metric{Connections, Requests, Throughput}, m) }
