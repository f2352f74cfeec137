package specweb

import (
	"encoding/json"
	"slices"

	"github.com/weighstone/weighstone/bench"
)

// Run is the iteration as a run of a document's cell.
func (i *Iteration) Run(c *Config) bench.Run {
	r := bench.Run{Specweb: i.specweb(c)}
	if i.Load != nil {
		r.Figures, r.Requests, r.ElapsedS, r.Client = i.Load.Figures(), i.Load.Good(), i.Load.Elapsed.Seconds(), i.Load.Client()
		r.WarmupS = c.Warmup.Seconds()
	}
	if i.CPUMicros > 0 {
		r.ServerCPUMicros = bench.Number(i.CPUMicros)
		r.ServerCPUPercent = bench.Number(100 * i.CPUMicros / 1e6 * i.Rate)
	}
	if i.Interrupted {
		r.Error = "interrupted"
	}
	return r
}

// Knobs are all that the workload was set to, by their names in JSON, and the
// version that the server says it is.
func (r *Result) Knobs() map[string]any {
	all := r.Config.knobs()
	all["server_version"] = r.software()
	return all
}

// software is how the server calls itself; empty if it does not.
func (r *Result) software() string {
	for i := range r.Iterations {
		if l := r.Iterations[i].Load; l != nil && l.Software != "" {
			return l.Software
		}
	}
	return ""
}

func (c *Config) knobs() map[string]any {
	var all map[string]any
	b, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		panic("specweb: plain data that JSON does not take: " + err.Error())
	}
	all["arrival"], all["rate"] = c.Arrival.String(), c.Arrival.Rate
	return all
}

func (i *Iteration) specweb(c *Config) *bench.Specweb {
	log := i.Integrity
	out := &bench.Specweb{
		Connections: c.Connections, Conforming: i.Conformance.Conforming, LineRate: c.LineRate, Directories: c.Dirs,
		Passed: i.Conforms(), Why: i.Why(), Rates: percentiles(i.Conformance.Rates),
		Posts: log.Sent, Unanswered: log.Unknown, Records: log.Records,
		Lost: log.Lost.N, Duplicated: log.Duplicated.N, Reordered: log.Reordered.N, Corrupted: log.Corrupted.N, Foreign: log.Foreign.N,
		WrongReplies: i.Wrong, ClientBytes: i.ClientBytes,
	}
	if c.Posts > 0 {
		out.LineRate, out.Rates = 0, nil
	}
	for _, k := range append(log.kinds(), kind{"wrong", &Findings{i.Wrong, i.WrongFirst}}) {
		for _, text := range k.of.First {
			out.Findings = append(out.Findings, k.name+": "+text)
		}
	}
	return out
}

// percentiles are the quantiles at 0, 1, ... 100 %; none of nothing.
func percentiles(rates []float64) []float64 {
	if len(rates) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(rates))
	all := make([]float64, 101)
	for p := range all {
		all[p] = sorted[(len(sorted)-1)*p/100]
	}
	return all
}
