package specweb

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/pace"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/proc"
)

// A Config is what one load is judged with: all knobs of the workload. They
// stand beside every result.
type Config struct {
	URL         string `json:"url"`
	Connections int    `json:"connections"`
	Dirs        int    `json:"directories"`
	// LineRate is in bits a second, 0 for as fast as replies come: then
	// conformance is not judged by rate.
	LineRate   int           `json:"line_bits_per_s"`
	Warmup     time.Duration `json:"warmup_ns"`
	Duration   time.Duration `json:"duration_ns"` // of an iteration behind its warm-up
	Iterations int           `json:"iterations"`
	HTTP10     bool          `json:"http_1_0"`
	// Delay is how far away the clients are thought to be, there and back; 0 in
	// 1999, whose networks had their own.
	Delay time.Duration `json:"delay_ns"`
	// Netem is the delay that the kernel adds to each packet; 0 for none.
	Netem time.Duration `json:"netem_ns"`
	// Mount is the option that the set is mounted with; empty for none.
	Mount string `json:"mount"`
	// Conditional is as in a Draw. Arrival is how requests come: a closed loop,
	// or without a line rate an open one. Neither was there in 1999.
	Conditional float64      `json:"conditional_share"`
	Arrival     pace.Arrival `json:"-"`
	Seed        uint64       `json:"seed"`
	Users       int          `json:"users"`
	// Posts, if not 0, ends an iteration when so many are to be expected, in
	// place of its duration: a test of integrity.
	Posts   int           `json:"posts"`
	Timeout time.Duration `json:"timeout_ns"`
	Workers int           `json:"-"` // of the generator; 0 as it likes
	CPUs    []int         `json:"-"`
	Build   string        `json:"generator_version"`

	// Content is that of the set.
	Content *rules.Set `json:"-"`
	// Begin and End are called when the measured stretch of an iteration begins
	// and ends; nil for nobody.
	Begin, End func() `json:"-"`
	// Usage returns what the server has used; nil when nobody knows.
	Usage func() (proc.Usage, error) `json:"-"`
	// Progress is told of each stage; nil for nobody.
	Progress func(stage string) `json:"-"`
}

// An Iteration is one measured stretch.
type Iteration struct {
	Conformance *Conformance `json:"conformance"`
	Integrity   *Integrity   `json:"integrity"`
	Wrong       int          `json:"wrong_replies"`
	WrongFirst  []string     `json:"wrong_replies_first"`
	Rate        float64      `json:"operations_per_s"`
	CPUMicros   float64      `json:"server_cpu_us_per_request"` // 0 when not known
	P50, P90    time.Duration
	P99, Max    time.Duration
	ClientBusy  float64 `json:"client_busy"` // share of its cores, 0 to 1
	// ClientBytes is what the generator's memory grew by, the sockets' buffers
	// aside. Some 6 MB are for its counts, the rest for its clients.
	ClientBytes int  `json:"client_bytes"`
	Interrupted bool `json:"interrupted"`

	// Load is all that the load generator has seen.
	Load *load.Result `json:"-"`
}

// Whole says whether all that was asked of the server's integrity holds.
func (i *Iteration) Whole() bool { return i.Integrity.Whole() && i.Wrong == 0 }

// Why says why the iteration does not pass: first what the server did wrong, as
// no rate makes up for that. It is empty for one that passes.
func (i *Iteration) Why() string {
	switch {
	case !i.Integrity.Whole():
		return i.Integrity.Why()
	case i.Wrong > 0:
		return fmt.Sprintf("%d replies wrong (%s)", i.Wrong, i.WrongFirst[0])
	case len(i.Conformance.Reasons) > 0:
		return i.Conformance.Reasons[0]
	case i.Interrupted:
		return "interrupted"
	}
	return ""
}

// Conforms says whether the iteration passes.
func (i *Iteration) Conforms() bool {
	return i.Whole() && len(i.Conformance.Reasons) == 0 && !i.Interrupted
}

// A Result is what came of one load.
type Result struct {
	Config     Config      `json:"config"`
	Iterations []Iteration `json:"iterations"`
}

// Conforms says whether every iteration passes.
func (r *Result) Conforms() bool {
	for i := range r.Iterations {
		if !r.Iterations[i].Conforms() {
			return false
		}
	}
	return len(r.Iterations) == r.Config.Iterations
}

// Complete says whether every iteration was made to its end.
func (r *Result) Complete() bool {
	n := len(r.Iterations)
	return n == r.Config.Iterations && !r.Iterations[n-1].Interrupted
}

// Whole says whether the server kept its integrity in every iteration.
func (r *Result) Whole() bool {
	for i := range r.Iterations {
		if !r.Iterations[i].Whole() {
			return false
		}
	}
	return true
}

// Why says of the first iteration that does not pass why; empty if all pass.
func (r *Result) Why() string {
	for i := range r.Iterations {
		if why := r.Iterations[i].Why(); why != "" {
			return why
		}
	}
	return ""
}

// ClientBusy is the median of how busy the generator's cores were, 0 to 1.
func (r *Result) ClientBusy() float64 {
	return median(r, func(i *Iteration) float64 { return i.ClientBusy })
}

// Conforming is the median of how many connections conformed.
func (r *Result) Conforming() int {
	return median(r, func(i *Iteration) int { return i.Conformance.Conforming })
}

// Run makes the iterations of one load. Before the first, each operation is
// asked once for a file of each class, and must be answered right; that it is
// not is an error.
func Run(ctx context.Context, c Config) (*Result, error) {
	r := &Result{Config: c}
	if err := c.check(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", rules.Style, err)
	}
	for i := range c.Iterations {
		c.tell("iteration %d of %d, %d connections", i+1, c.Iterations, c.Connections)
		it, err := c.iterate(ctx, i)
		if err != nil {
			return r, fmt.Errorf("%s: iteration %d: %w", rules.Style, i+1, err)
		}
		r.Iterations = append(r.Iterations, *it)
		if it.Interrupted {
			break
		}
	}
	return r, nil
}

func (c *Config) tell(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// check asks for each operation on each class of files once.
func (c *Config) check(ctx context.Context) error {
	tables, err := c.reset(ctx, 0)
	if err != nil {
		return err
	}
	p := NewPlan(Draw{Seed: c.Seed, Dirs: c.Dirs, Tables: tables, Content: c.Content, Clients: 1})
	const all = rules.Operations * rules.Classes
	p.sessions[0].tour = all
	res, err := load.Run(ctx, load.Config{
		URL: c.URL, Plan: p, Clients: 1, Requests: all, Keepalive: true, HTTP10: c.HTTP10, Timeout: c.Timeout,
	})
	if err != nil {
		return err
	}
	log, err := c.fetch(ctx)
	if err != nil {
		return err
	}
	whole := p.Compare(log)
	switch {
	case len(p.complain.all) > 0:
		return fmt.Errorf("before the start: %s", p.complain.all[0])
	case res.Bad() > 0:
		return fmt.Errorf("before the start: %s", res.Offence)
	case !whole.Whole() || whole.Records != rules.Classes:
		return fmt.Errorf("before the start: %d POSTs left %d records, %d of them as they should be", whole.Sent, whole.Records, whole.Sent-whole.Lost.N)
	}
	return nil
}

// iterate makes one iteration.
func (c *Config) iterate(ctx context.Context, n int) (*Iteration, error) {
	tables, err := c.reset(ctx, n+1)
	if err != nil {
		return nil, err
	}
	config := load.Config{
		URL: c.URL, Clients: c.Connections, Keepalive: true, HTTP10: c.HTTP10,
		LineRate: c.LineRate, Delay: c.Delay, Warmup: c.Warmup, Duration: c.Duration, Timeout: c.Timeout, Workers: c.Workers, CPUs: c.CPUs, Arrival: c.Arrival,
	}
	draw := Draw{Seed: c.Seed + uint64(n), Dirs: c.Dirs, Tables: tables, Content: c.Content, Clients: c.Connections, LineRate: c.LineRate, Delay: c.Delay, From: c.Warmup, Conditional: c.Conditional}
	if c.Posts > 0 {
		config.Warmup, config.Duration, draw.From = 0, 0, 0
		config.Requests = max(uint64(c.Connections), requestsFor(c.Posts))
	} else {
		draw.Until = c.Warmup + c.Duration
	}
	grown := memory()
	p := NewPlan(draw)
	config.Plan = p
	used := c.watch(&config)
	end, bytes := config.End, 0
	config.End = func() {
		tellAt(end)
		bytes = grown()
	}
	res, err := load.Run(ctx, config)
	if err != nil {
		return nil, err
	}
	it := p.iteration(res)
	it.ClientBytes = bytes
	if cpu, known := used(); known && res.Tally.Done > 0 {
		it.CPUMicros = float64(cpu.Nanoseconds()) / 1e3 / float64(res.Tally.Done)
	}
	if it.Interrupted {
		it.Integrity = new(Integrity)
		return it, nil
	}
	log, err := c.fetch(ctx)
	if err != nil {
		return nil, err
	}
	it.Integrity = p.Compare(log)
	return it, nil
}

// watch has a run read the server's clocks when its measured window begins and
// ends, and returns what says how much CPU that came to.
func (c *Config) watch(config *load.Config) func() (cpu time.Duration, known bool) {
	config.Begin, config.End = c.Begin, c.End
	if c.Usage == nil {
		return func() (time.Duration, bool) { return 0, false }
	}
	var before, after proc.Usage
	var begun, ended error
	config.Begin = func() {
		before, begun = c.Usage()
		tellAt(c.Begin)
	}
	config.End = func() {
		tellAt(c.End)
		after, ended = c.Usage()
	}
	return func() (time.Duration, bool) { return after.CPU - before.CPU, begun == nil && ended == nil }
}

func tellAt(f func()) {
	if f != nil {
		f()
	}
}

// iteration is what the client has seen.
func (p *Plan) iteration(res *load.Result) *Iteration {
	it := &Iteration{
		Conformance: p.Conform(), Rate: res.Rate(), ClientBusy: res.ClientBusy(), Interrupted: res.Interrupted,
		Wrong: p.complain.n, WrongFirst: p.complain.all, Max: res.Tally.Latency.Max, Load: res,
	}
	it.P50, _ = res.Tally.Latency.Quantile(.5)
	it.P90, _ = res.Tally.Latency.Quantile(.9)
	it.P99, _ = res.Tally.Latency.Quantile(.99)
	return it
}

// requestsFor is how many requests have at least so many POSTs among them but
// once in a million times.
func requestsFor(posts int) uint64 {
	const share, far = 0.048, 4.8 // standard deviations
	// n shares less so many deviations of them are the POSTs: solved for the root of n.
	root := (far*math.Sqrt(1-share) + math.Sqrt(far*far*(1-share)+4*float64(posts))) / (2 * math.Sqrt(share))
	return uint64(math.Ceil(root * root))
}
