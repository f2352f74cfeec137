package specweb

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/plan"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// Keep-alive connections carry 5 to 15 requests, 10 on average. With keptOf in
// outOf connections, 70 % of requests travel on them, and a connection carries
// 100/37 requests over all.
const (
	keptOf, outOf       = 7, 37
	leastKept, mostKept = 5, 15
)

// A Plan is what the clients of one iteration ask. It is shared by all workers;
// only the complaints are written to.
type Plan struct {
	seed   uint64
	set    *rules.Set
	tables *rules.Tables
	users  int

	operation, class, file, dir plan.Drawer

	from, until time.Duration // what is due within counts
	lineRate    int
	delay       time.Duration
	conditional float64 // of the static requests
	since       string  // the date in them

	sessions []*session
	complain complaints
}

// A Draw says what an iteration's clients are made with.
type Draw struct {
	Seed     uint64
	Dirs     int           // of the set
	Tables   *rules.Tables // since the reset
	Content  *rules.Set
	Clients  int
	LineRate int           // bits a second, 0 for none
	Delay    time.Duration // there and back, as load.Config has it
	// Conditional is the share of static requests, from 0 to 1, that ask whether
	// the file has changed, and are to be answered 304.
	Conditional float64
	From        time.Duration // requests count that are due from here on
	Until       time.Duration // and before this; 0 for all
}

// NewPlan makes the plan of an iteration.
func NewPlan(d Draw) *Plan {
	p := &Plan{
		seed: d.Seed, set: d.Content, tables: d.Tables, users: d.Tables.Users(),
		operation: plan.NewDrawer(rules.OperationWeights()), class: plan.NewDrawer(rules.ClassWeights()),
		file: plan.NewDrawer(rules.FileWeights()), dir: plan.NewDrawer(rules.DirWeights(d.Dirs)),
		from: d.From, until: d.Until, lineRate: d.LineRate, delay: d.Delay,
		conditional: d.Conditional, since: time.Now().UTC().Format(http.TimeFormat),
	}
	for i := range d.Clients {
		p.sessions = append(p.sessions, newSession(p, i))
	}
	return p
}

// Classes implements bench.Plan: they are the operations.
func (p *Plan) Classes() []bench.Class {
	weights := rules.OperationWeights()
	all := make([]bench.Class, rules.Operations)
	for i := range all {
		op := rules.Operation(i)
		all[i] = bench.Class{Name: op.String(), Weight: float64(weights[i]), Dynamic: op != rules.Static}
	}
	return all
}

// Script implements bench.Plan. A client's session is one, and goes on.
func (p *Plan) Script(client int) bench.Script { return p.sessions[client] }

// drawFile draws a file of the set.
func (p *Plan) drawFile(r *rand.Rand) rules.File {
	return rules.File{Dir: p.dir.Draw(r), Class: p.class.Draw(r), Index: p.file.Draw(r)}
}

// maxComplaints is how many are kept of what was wrong with replies.
const maxComplaints = 10

// complaints are the first replies whose contents were wrong.
type complaints struct {
	mu  sync.Mutex
	all []string
	n   int
}

func (c *complaints) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if len(c.all) < maxComplaints {
		c.all = append(c.all, text)
	}
}
