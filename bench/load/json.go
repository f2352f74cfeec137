package load

import (
	"encoding/json"
	"io"

	"github.com/weighstone/weighstone/bench"
)

// Document is the result as a document of one cell with one run. command is
// the command line, env where it ran.
func (r *Result) Document(command []string, env bench.Environment) *bench.Document {
	verdict, reasons := r.Verdict()
	figures := r.Figures()
	cell := bench.Cell{
		Variant: r.Config.URL,
		Load: bench.Load{
			Clients: r.Config.Clients, Keepalive: r.Config.Keepalive, Arrival: "closed", Idle: r.Config.Idle,
		},
		Runs:    []bench.Run{{Figures: figures, Requests: r.Good(), ElapsedS: r.Elapsed.Seconds()}},
		Metrics: single(figures),
		Verdict: verdict, Reasons: reasons,
	}
	if len(r.Classes) > 1 {
		name := "list"
		cell.Load.Plan = &name
	}
	return &bench.Document{
		Schema: bench.Schema, Command: command, Environment: env,
		Cells: []bench.Cell{cell}, Comparisons: []bench.Comparison{},
		Verdict: verdict, Reasons: reasons,
	}
}

// single makes metrics of one run, of which no interval is known.
func single(f bench.Figures[float64]) bench.Figures[bench.Metric] {
	m := func(v *float64) *bench.Metric {
		if v == nil {
			return nil
		}
		return &bench.Metric{Median: v, N: 1}
	}
	q := func(q bench.Quantiles[float64]) bench.Quantiles[bench.Metric] {
		return bench.Quantiles[bench.Metric]{P50: m(q.P50), P90: m(q.P90), P99: m(q.P99), P999: m(q.P999), Max: m(q.Max), Mean: m(q.Mean)}
	}
	return bench.Figures[bench.Metric]{
		RequestsPerS: m(f.RequestsPerS), ConnectionsPerS: m(f.ConnectionsPerS), ThroughputMbitS: m(f.ThroughputMbitS),
		LatencyMS: q(f.LatencyMS), ConnectMS: q(f.ConnectMS), ErrorsPerS: m(f.ErrorsPerS), Errors: f.Errors,
		Little: m(f.Little), ClientCPUPercent: m(f.ClientCPUPercent), EventsPerWait: m(f.EventsPerWait),
	}
}

// WriteJSON writes the result as a document; see [Result.Document].
func WriteJSON(w io.Writer, r *Result, command []string, env bench.Environment) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r.Document(command, env))
}
