package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/bench/subject"
)

// A design is an experiment made concrete for this machine and these options.
type design struct {
	// units are groups of cells that are compared with one another, and so
	// run right after each other.
	units   [][]*cell
	compare []comparison
	runs    int
	// remarks go into the document: what was left out, and why.
	remarks []string
	left    map[subject.Subject]bool // optional servers that were left out

	controls controls
}

// A cell is one subject under one load.
type cell struct {
	name    string // unique in the design, for comparisons and progress
	subject subject.Subject
	handler string
	load    setting
	plan    func(base string) (*plan.Plan, error)
	proofs  []proof
	// style, if set, is the SPECweb99-style workload, which has a plan of its own;
	// processors is how many the server was given for it.
	style      *study.Style
	processors int
	serverCPUs []int          // of such a cell
	clientCPUs []int          // and its client's
	knobs      map[string]any // of its first run
	// program, if set, is run instead of loading the subject, which is nil.
	program *program
	// claims is the metric that the cell is there for; a claim of
	// [claimRate] stands only with a saturated server.
	claims  metric
	remarks []string
	// optional marks a server that nobody asked for by name: if it does not
	// start, or answers something else, it is left out, and that is remarked.
	optional bool
	path     string // that is asked for, where it is one; for ab
	log      string // the server's access log, emptied before each run; empty for none
	// first has the first request measured, of the path that proves the cell.
	first   bool
	ceiling *cell // what the client can do at most under such a load; nil if nobody knows

	transcripts []bench.Transcript // other tools' reports, or in their form

	runs     []roundRun
	repeated int             // runs made again because the rate had not settled
	syscalls *bench.Syscalls // nil while nobody counted
}

// A proof is a path whose answer must have the same bytes on all cells that
// name the same content.
type proof struct{ path, content string }

// A setting is what a cell's subject is offered: by clients that send their
// next request as soon as the last was answered, unless arrival says otherwise.
type setting struct {
	clients, idle int
	keepalive     bool
	http10        bool
	heads         [][]byte
	planName      string // empty for a single URL
	arrival       pace.Arrival
	// half are cells of which the slowest says, by a pilot run, what arrival
	// will be: random, at half of its rate.
	half             []*cell
	warmup, duration time.Duration

	requests uint64        // how many, instead of a duration
	patience time.Duration // for a reply; 0: the lab's
	limited  bool          // the server fails requests by design: that is what is measured
	pause    time.Duration // how long the server is stopped when a run begins
}

// A comparison is a metric of two cells as the ratio a to b.
type comparison struct {
	name      string
	a, b      *cell
	metric    metric
	published float64 // 0: nothing is published
	source    string
	same      bool // both cells do the same: a difference is noise
	at        string
	saturated int // 1 + the index of the same comparison at saturation; 0 for none
}

// A metric names one of a run's figures as the document does.
type metric string

// The metrics that comparisons and verdicts use.
const (
	claimRate metric = "requests_per_s"
	claimCPU  metric = "server_cpu_us_per_request"
)

// of returns the metric's value in a run, and false when it is not known.
func (m metric) of(f *bench.Figures[float64]) (float64, bool) {
	v := f.RequestsPerS
	if m == claimCPU {
		v = f.ServerCPUMicros
	}
	if v == nil {
		return 0, false
	}
	return *v, true
}

// A roundRun is a run with what only the verdict needs.
type roundRun struct {
	round int
	bench.Run
	crowding
	hot       bool // a processor slowed down for heat
	unsettled bool // the rate was still on its way at the end
}

// A crowding is how much of the cores others took during a run, in percent:
// processes that belong to neither side, and the hypervisor.
type crowding struct{ server, client float64 }

// all returns the units with the controls.
func (d *design) all() [][]*cell {
	return append(d.units[:len(d.units):len(d.units)], d.controls.units()...)
}

// timed is the number of runs in all, repeated ones aside.
func (d *design) timed() int {
	n := 0
	for _, u := range d.all() {
		n += len(u)
	}
	return n * d.runs
}

// cells returns the cells without the controls, in the order of the units.
func (d *design) cells() []*cell {
	var all []*cell
	for _, u := range d.units {
		all = append(all, u...)
	}
	return all
}

// order returns the cells of a round. Two rounds that follow each other have
// the same shuffled units, and the second has the cells of each turned round:
// A B, then B A, so that a drift of the machine favours neither.
func (d *design) order(seed uint64, round int) []*cell {
	rng := rand.New(rand.NewPCG(seed, uint64(round/2)))
	units := d.all()
	var all []*cell
	for _, u := range rng.Perm(len(units)) {
		within := rng.Perm(len(units[u]))
		for i := range within {
			k := within[i]
			if round%2 == 1 {
				k = within[len(within)-1-i]
			}
			all = append(all, units[u][k])
		}
	}
	return all
}

// requestTook is what a request on a connection of its own takes, about.
const requestTook = 200 * time.Microsecond

// leaveOut takes all cells of an optional one's server out of the design, and
// remarks why. It says whether the cell was optional.
func (d *design) leaveOut(c *cell, why error) bool {
	if !c.optional {
		return false
	}
	d.remark(fmt.Sprintf("%s was left out: %v", c.subject.Name(), why))
	if d.left == nil {
		d.left = map[subject.Subject]bool{}
	}
	d.left[c.subject] = true
	for i := range d.units {
		d.units[i] = slices.DeleteFunc(d.units[i], func(o *cell) bool { return o.subject == c.subject })
	}
	d.units = slices.DeleteFunc(d.units, func(u []*cell) bool { return len(u) == 0 })
	return true
}

// took is how long one run of c takes, about.
func (c *cell) took() time.Duration {
	const overhead = 60 * time.Millisecond
	// Each idle connection is opened and has one request before the start.
	idle := time.Duration(c.load.idle) * 60 * time.Microsecond
	if c.style != nil && c.style.Posts > 0 {
		return time.Duration(c.style.Posts)*perPost + stylePerRun
	}
	if c.style != nil {
		return c.load.warmup + c.load.duration + stylePerRun
	}
	if c.load.requests > 0 {
		return time.Duration(c.load.requests)*requestTook + c.load.pause + overhead
	}
	return c.load.warmup + c.load.duration + overhead + idle
}
