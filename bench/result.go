package bench

import "math"

// Schema names the format of a [Document] as JSON.
const Schema = "weighstone/1"

// A Document is one result, as plain data: what was run where, the cells, the
// comparisons between them, and what it is all worth. Whoever ran it makes
// it; report writers only read it.
type Document struct {
	Schema      string       `json:"schema"` // [Schema]
	Command     []string     `json:"command"`
	Environment Environment  `json:"environment"`
	Cells       []Cell       `json:"cells"`
	Comparisons []Comparison `json:"comparisons"`
	Verdict     Verdict      `json:"verdict"` // the worst of the cells'
	Reasons     []string     `json:"reasons"`

	Name     string    `json:"name,omitempty"`     // of the experiment
	Headline []string  `json:"headline,omitempty"` // what to read first, in sentences
	Design   *Design   `json:"design,omitempty"`
	Noise    []Noise   `json:"noise,omitempty"`
	Ceilings []Ceiling `json:"ceilings,omitempty"`
	// Unequal says, by subject and in sentences, what could not be made the
	// same as for the others.
	Unequal  map[string][]string `json:"unequal,omitempty"`
	Rankings []Ranking           `json:"rankings,omitempty"`
	Study    *Study              `json:"study,omitempty"` // where a published comparison was repeated
	Search   *Search             `json:"search,omitempty"`
}

// A Search is how the highest load was found that a server can bear. The cells
// are those of its steps, in order.
type Search struct {
	Connections int    `json:"connections"` // of that load; 0 if none passed
	Within      int    `json:"within"`      // how near the search was to come
	Most        int    `json:"most"`        // the highest that it would have tried
	Confirmed   bool   `json:"confirmed"`   // the loads at both ends came out the same twice
	Steps       []Step `json:"steps"`
}

// A Step is a load that a search tried.
type Step struct {
	Connections int    `json:"connections"`
	Passed      bool   `json:"passed"`
	Why         string `json:"why,omitempty"` // not
}

// An Environment is where a result was obtained, so far as it is known.
type Environment struct {
	Kernel    string            `json:"kernel"`
	CPU       string            `json:"cpu"`
	Cores     int               `json:"cores"`
	Clock     string            `json:"clock"` // the kernel's clock source
	Sysctls   map[string]string `json:"sysctls"`
	Go        string            `json:"go"`
	Build     string            `json:"build"`
	Fixtures  string            `json:"fixtures"` // digest of the manifest
	Load      string            `json:"load"`     // load average at the start
	Container string            `json:"container"`
	Facts     map[string]string `json:"facts,omitempty"` // whatever else counts: pinning, limits, versions of peers
}

// A Cell is one subject under one load.
type Cell struct {
	Variant string          `json:"variant"`
	Handler string          `json:"handler"`
	Load    Load            `json:"load"`
	Runs    []Run           `json:"runs"`
	Metrics Figures[Metric] `json:"metrics"`
	Verdict Verdict         `json:"verdict"`
	Reasons []string        `json:"reasons"`

	Name     string          `json:"name,omitempty"` // what comparisons call it; unique in a document
	WarmupS  *Metric         `json:"warmup_s,omitempty"`
	Server   *Server[Metric] `json:"server,omitempty"`
	Syscalls *Syscalls       `json:"syscalls,omitempty"`
	// Knobs are those of a workload that has more of them than a load.
	Knobs map[string]any `json:"knobs,omitempty"`
}

// A Load is what a cell's subject was offered.
type Load struct {
	Clients   int      `json:"clients"`
	Keepalive bool     `json:"keepalive"`
	Arrival   string   `json:"arrival"` // closed, constant, poisson
	Rate      *float64 `json:"rate"`    // asked for, per second; null in a closed loop
	Plan      *string  `json:"plan"`    // null for a single URL
	Idle      int      `json:"idle"`    // connections held open beside the clients
}

// A Run is one repetition of a cell: the figures that its metrics summarise.
type Run struct {
	Figures[float64]
	Requests  uint64  `json:"requests"` // good replies
	ElapsedS  float64 `json:"elapsed_s"`
	Position  int     `json:"position"`        // in the order of all runs of the document, from 0
	Discarded string  `json:"discarded"`       // why it is left out of the metrics; empty if it is not
	Error     string  `json:"error,omitempty"` // why it failed, with the server's last words
	Client    *Client `json:"client,omitempty"`

	WarmupS  float64          `json:"warmup_s"`  // dropped at the beginning
	SettledS *float64         `json:"settled_s"` // when the rate had settled, by the 100-ms series; null if it had not
	Server   *Server[float64] `json:"server,omitempty"`

	StealPercent     float64 `json:"steal_percent"`     // of the cores' time that the hypervisor gave to others
	OthersPercent    float64 `json:"others_percent"`    // of the server's core that went to others
	ThrottledPercent float64 `json:"throttled_percent"` // of the time in which a limit on CPU stopped us

	Specweb *Specweb `json:"specweb99_style,omitempty"` // of a run of that workload
}

// Figures are what is measured of a cell: as one number in a [Run], as a
// [Metric] over all runs in a [Cell]. Nil is what could not be computed.
type Figures[T any] struct {
	RequestsPerS     *T           `json:"requests_per_s"`
	ConnectionsPerS  *T           `json:"connections_per_s"`
	ThroughputMbitS  *T           `json:"throughput_mbit_s"` // 10^6 bits, heads included
	LatencyMS        Quantiles[T] `json:"latency_ms"`
	ConnectMS        Quantiles[T] `json:"connect_ms"`
	ErrorsPerS       *T           `json:"errors_per_s"`
	Errors           Faults       `json:"errors"` // of all runs together
	Little           *T           `json:"little"` // response time that lies in the window, summed, over elapsed time
	ServerCPUPercent *T           `json:"server_cpu_percent"`
	ServerCPUMicros  *T           `json:"server_cpu_us_per_request"` // children included
	ClientCPUPercent *T           `json:"client_cpu_percent"`        // of the cores it was given
	EventsPerWait    *T           `json:"events_per_wait"`           // of the client's loop, whose batches mirror the server's
	NetworkPercent   *T           `json:"network_percent"`           // of the link that was named
}

// Quantiles are a distribution of times in milliseconds. A quantile q stands
// only where at least 10/(1-q) samples stand behind it.
type Quantiles[T any] struct {
	P50  *T `json:"p50"`
	P90  *T `json:"p90"`
	P99  *T `json:"p99"`
	P999 *T `json:"p999"`
	Max  *T `json:"max"`
	Mean *T `json:"mean"`
}

// A Metric is the median of N runs with its 95 % interval. Lo and Hi are nil
// when there are too few runs for one.
type Metric struct {
	Median *float64 `json:"median"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	N      int      `json:"n"`
}

// A Comparison is one metric of two cells as the ratio A to B.
type Comparison struct {
	Name      string   `json:"name"`
	A         string   `json:"a"`
	B         string   `json:"b"`
	Metric    string   `json:"metric"`
	Ratio     *float64 `json:"ratio"`
	Lo        *float64 `json:"lo"`
	Hi        *float64 `json:"hi"`
	P         *float64 `json:"p"`
	Published *float64 `json:"published"`
	// Agrees is true when the interval lies wholly on the published ratio's
	// side of 1, false when wholly on the other; nil when it holds 1, nothing
	// is published, or a cell is not usable.
	Agrees *bool `json:"agrees"`
	// Source says whose the published ratio is, with its range.
	Source string `json:"source,omitempty"`

	// Claimed is true when a difference is shown: the interval does not hold
	// 1, and the ratio is farther from 1 than that of the same server twice.
	// False means "no difference shown", nil that it can't be said.
	Claimed *bool `json:"claimed"`
	// Note is why a difference is not claimed, where that is not plain.
	Note string `json:"note,omitempty"`
	// How the runs were compared: "pairs" or "unpaired".
	How string `json:"how,omitempty"`
	// At says under which load, where that is the point: "saturated" or "same
	// offered rate".
	At string `json:"at,omitempty"`
	// EventsA and EventsB are the events per wait of both servers, on which
	// the CPU a request depends; those of the client's loop, which mirror
	// them, when EventsOf is "client".
	EventsA  *float64 `json:"events_per_wait_a,omitempty"`
	EventsB  *float64 `json:"events_per_wait_b,omitempty"`
	EventsOf string   `json:"events_of,omitempty"`
}

// Number returns v as a figure, nil if it is none (infinite or not a number),
// which JSON cannot say.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
