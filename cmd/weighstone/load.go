package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/fixtures"
)

type loadCmd struct {
	URL  string `arg:"" name:"url" help:"What to ask for; with a plan, the base of its relative paths."`
	Plan string `placeholder:"FILE" help:"A WebStone file list, of 1.x or 2.x. What it names of the built-in content is checked against that."`

	FromLog string `name:"from-log" placeholder:"FILE" help:"Instead of a plan an access log, in the common or combined format: each target that it has answered with 200, as often as there."`

	Clients   *int           `short:"c" placeholder:"10" help:"Connections in use at a time; 10, or as many as there are requests if those are fewer."`
	Requests  *uint64        `short:"n" placeholder:"N" help:"Requests in all, instead of a duration; with -d, whichever ends first."`
	Duration  *time.Duration `short:"d" placeholder:"10s" help:"How long; 10s if the number of requests is not given either."`
	Workers   *int           `placeholder:"N" help:"Threads of the load generator, each worth a core; as many as there are cores, at most one a client."`
	Timeout   time.Duration  `default:"30s" help:"How long each reply may take. What was asked before the end of the run is waited for up to that long after it."`
	KeepAlive bool           `short:"k" name:"keep-alive" help:"Many requests a connection; else one."`
	Output    string         `short:"o" enum:"text,json,csv,html,gobench,ab,webstone" default:"text" help:"text, json, csv, html, gobench (for benchstat), ab (as ApacheBench reports) or webstone."`
	ABCompat  bool           `name:"ab-compatible" help:"With -o ab, take median and percentiles by ab's own indices."`

	Mix     string        `enum:"static,light,medium,heavy" default:"static" help:"How many files of the plan are replaced by a program: static, light, medium or heavy."`
	Dynamic string        `placeholder:"/api/send" help:"The program that replaces them; /api/send by default."`
	Think   time.Duration `default:"0s" help:"Pause of each client between a reply and its next request."`
	HTTP    string        `name:"http" enum:"1.0,1.1" default:"1.1" help:"Version of HTTP."`
	PerConn *int          `name:"requests-per-conn" placeholder:"N" help:"With -k, close a connection after N requests."`

	Arrival string   `enum:",closed,constant,poisson" default:"" help:"How requests come: closed (each client after its last reply), or at --rate whatever the server does: constant (at equal distances) or poisson."`
	Rate    *float64 `placeholder:"R" help:"Requests a second in all, of an open loop."`
	Ramp    string   `placeholder:"A:B:DURATION" help:"An open loop whose rate goes from A to B a second in that time, then stays."`
	Ladder  []int    `placeholder:"N,.." help:"Instead of -c: a closed loop for each of these numbers of clients, one after another."`

	Pipeline   int      `default:"1" help:"With -k, requests under way on a connection."`
	Idle       int      `default:"0" help:"Further connections that are only held open."`
	Source     []string `placeholder:"ADDR|CIDR" help:"Local addresses to connect from, in turn; of a network the first 256."`
	Ahead      int      `name:"connect-ahead" default:"0" help:"Connections kept ready, so that a request does not wait for one."`
	ReadRate   *int     `name:"read-rate" placeholder:"B" help:"Read each connection at B bytes a second only."`
	CloseFirst string   `enum:"client,server" default:"server" help:"Who closes a connection first: client or server."`

	Method         string   `placeholder:"M" help:"Method; GET by default."`
	Header         []string `short:"H" sep:"none" placeholder:"K: V" help:"A further header line."`
	Body           string   `placeholder:"FILE" help:"Body of each request."`
	VariableLength bool     `name:"variable-length" help:"Replies may differ (ab's -l): hold none to what the first was."`
	Seed           uint64   `default:"1" help:"Of the random order of a plan, and of poisson arrivals."`
	HLog           string   `name:"hlog" placeholder:"FILE" help:"Write the distributions of each second there, as HdrHistogram's log."`
}

// Validate refuses what no value of a flag can mean.
func (c *loadCmd) Validate() error {
	if _, _, err := plan.SplitURL(c.URL); err != nil {
		return err
	}
	if err := c.validNumbers(); err != nil {
		return err
	}
	o := c.options()
	if err := o.Validate(); err != nil {
		return err
	}
	switch {
	case c.ABCompat && c.Output != "ab":
		return errors.New("--ab-compatible is for -o ab")
	case c.Plan != "" && c.FromLog != "":
		return errors.New("--plan, --from-log: expected one of them")
	case c.Plan == "" && c.Mix != string(plan.Static):
		return errors.New("--mix: needs --plan, of whose files some are replaced")
	case c.Dynamic != "" && c.Mix == string(plan.Static):
		return errors.New("--dynamic: needs --mix light, medium or heavy, as else nothing is replaced")
	case len(c.Ladder) > 0:
		return c.validLadder()
	case c.Requests != nil && *c.Requests < uint64(given(c.Clients)):
		return fmt.Errorf("-n %d: fewer requests than the %d clients", *c.Requests, *c.Clients)
	}
	_, err := c.arrival()
	return err
}

// validNumbers looks at the flags that are at least 1 where they are given,
// those that are at least 0, and those that only kept connections have.
func (c *loadCmd) validNumbers() error {
	switch {
	case c.Clients != nil && *c.Clients < 1:
		return fmt.Errorf("--clients: expected at least 1, but got %d", *c.Clients)
	case c.Requests != nil && *c.Requests < 1:
		return fmt.Errorf("--requests: expected at least 1, but got %d", *c.Requests)
	case c.Duration != nil && *c.Duration <= 0:
		return fmt.Errorf("--duration: expected more than 0, but got %v", *c.Duration)
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout: expected more than 0, but got %v", c.Timeout)
	case c.Pipeline < 1:
		return fmt.Errorf("--pipeline: expected at least 1, but got %d", c.Pipeline)
	case c.PerConn != nil && *c.PerConn < 1:
		return fmt.Errorf("--requests-per-conn: expected at least 1, but got %d", *c.PerConn)
	case c.Workers != nil && *c.Workers < 1:
		return fmt.Errorf("--workers: expected at least 1, but got %d", *c.Workers)
	case c.ReadRate != nil && *c.ReadRate < 1:
		return fmt.Errorf("--read-rate: expected at least 1, but got %d", *c.ReadRate)
	case c.Think < 0 || c.Idle < 0 || c.Ahead < 0:
		return errors.New("--think, --idle, --connect-ahead: expected at least 0")
	case c.Pipeline > 1 && !c.KeepAlive:
		return errors.New("--pipeline: needs -k, as a connection is else for one request")
	case c.PerConn != nil && !c.KeepAlive:
		return errors.New("--requests-per-conn: needs -k, as a connection is else for one request")
	}
	return nil
}

// given is the value of a flag, zero if it was not given.
func given[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}

// Run puts the load on and tells what came of it.
func (c *loadCmd) Run(s *streams) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	if log != nil {
		defer log.Close()
		config.Log = log
	}
	progress := newLoadProgress(s.err)
	progress.begin(&config, max(len(c.Ladder), 1))
	config.Progress = progress.show
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	results, err := c.load(ctx, config)
	progress.clear()
	if err != nil {
		return err
	}
	if err := c.write(s, results); err != nil {
		return err
	}
	failed := false
	for _, r := range results {
		if r.LogError != nil {
			return r.LogError
		}
		verdict, _ := r.Verdict()
		failed = failed || verdict.Failed()
	}
	if failed {
		return errSilent
	}
	return nil
}

func (c *loadCmd) config() (load.Config, error) {
	p, err := c.plan()
	if err != nil {
		return load.Config{}, err
	}
	arrival, err := c.arrival()
	if err != nil {
		return load.Config{}, usageError{err}
	}
	sources, err := parseSources(c.Source)
	if err != nil {
		return load.Config{}, usageError{err}
	}
	return load.Config{
		URL: c.URL, Plan: p,
		Clients: given(c.Clients), Requests: given(c.Requests), Duration: given(c.Duration), Timeout: c.Timeout,
		Keepalive: c.KeepAlive, PerConn: given(c.PerConn), HTTP10: c.HTTP == "1.0", Pipeline: c.Pipeline,
		CloseFirst: c.CloseFirst == "client", Arrival: arrival, Idle: c.Idle, Sources: sources,
		ConnectAhead: c.Ahead, ReadRate: given(c.ReadRate), Workers: given(c.Workers),
	}, nil
}

// plan makes the plan. A single URL may be anyone's, so what is right is what
// its first reply was; a list is about the fixtures where it names them.
func (c *loadCmd) plan() (*plan.Plan, error) {
	o := c.options()
	if c.Body != "" {
		body, err := os.ReadFile(c.Body)
		if err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		o.Body = body
	}
	if c.Plan == "" && c.FromLog == "" {
		return plan.URL(c.URL, o)
	}
	open := func() (*plan.List, error) { return plan.Open(c.Plan) }
	if c.FromLog != "" {
		open = func() (*plan.List, error) { return plan.OpenLog(c.FromLog) }
	}
	list, err := open()
	if err != nil {
		return nil, err
	}
	o.Files = known(fixtures.Expected())
	return plan.New(list, c.URL, o)
}

// options are those of a plan that flags alone say.
func (c *loadCmd) options() plan.Options {
	return plan.Options{
		Seed: c.Seed, Method: c.Method, Header: c.Header, Mix: plan.Mix(c.Mix), Dynamic: c.Dynamic,
		VariableLength: c.VariableLength,
	}
}

// known tells of the fixtures by path.
func known(m *fixtures.Manifest) func(path string) (int64, [sha256.Size]byte, bool) {
	return func(path string) (size int64, sum [sha256.Size]byte, ok bool) {
		f, ok := m.Find(path)
		if !ok {
			return 0, sum, false
		}
		_, err := hex.Decode(sum[:], []byte(f.SHA256))
		return f.Size, sum, err == nil
	}
}
