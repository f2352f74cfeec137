package load

import (
	"fmt"
	"maps"

	"github.com/weighstone/weighstone/bench"
)

// Document is a result, or those of a ladder, as a document with a cell of one
// run for each. command is the command line, env where it ran.
func Document(command []string, env bench.Environment, results ...*Result) *bench.Document {
	d := &bench.Document{
		Schema: bench.Schema, Command: command, Environment: env,
		Cells: []bench.Cell{}, Comparisons: []bench.Comparison{}, Verdict: bench.Valid, Reasons: []string{},
	}
	if len(results) == 0 {
		d.Verdict = bench.Incomplete
	} else {
		d.Environment.Facts = results[0].facts(env.Facts)
		d.Headline = []string{ladderOffered(results)}
	}
	for _, r := range results {
		c := r.Cell()
		d.Cells = append(d.Cells, c)
		d.Verdict = d.Verdict.Worse(c.Verdict)
		d.Reasons = append(d.Reasons, c.Reasons...)
	}
	return d
}

// facts are those of the machine, and what is known of both sides.
func (r *Result) facts(machine map[string]string) map[string]string {
	all := map[string]string{
		"network":      r.Network,
		"client_cores": fmt.Sprintf("any of those allowed, %s, not pinned", threads(r.Config.Workers)),
		"server_cores": "not known: the server was not started here",
	}
	if len(r.Config.CPUs) > 0 {
		all["client_cores"] = fmt.Sprintf("%v, %s", r.Config.CPUs, threads(r.Config.Workers))
	}
	if r.Software != "" {
		all["server.software"] = r.Software
	}
	maps.Copy(all, machine)
	return all
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// Cell is the result as a cell with one run.
func (r *Result) Cell() bench.Cell {
	verdict, reasons := r.Verdict()
	figures := r.Figures()
	a := &r.Config.Arrival
	cell := bench.Cell{
		Variant: r.Config.URL,
		Load: bench.Load{
			Clients: r.Config.Clients, Keepalive: r.Config.Keepalive, Arrival: a.String(), Idle: r.Config.Idle,
		},
		Runs:    []bench.Run{{Figures: figures, Requests: r.Good(), ElapsedS: r.Elapsed.Seconds(), Client: r.Client()}},
		Metrics: single(figures),
		Verdict: verdict, Reasons: reasons,
	}
	if a.Open() {
		cell.Load.Rate = bench.Number(a.Rate)
	}
	if len(r.Classes) > 1 {
		name := "list"
		cell.Load.Plan = &name
	}
	return cell
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
