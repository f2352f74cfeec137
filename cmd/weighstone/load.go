package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/fixtures"
)

type loadCmd struct {
	URL  string `arg:"" name:"url" help:"What to ask for; with a plan, the base of its relative paths."`
	Plan string `placeholder:"FILE" help:"A WebStone file list, of 1.x or 2.x. What it names of the built-in content is checked against that."`

	Clients   int           `short:"c" default:"10" help:"Connections in use at a time."`
	Requests  uint64        `short:"n" placeholder:"N" help:"Requests in all, instead of a duration."`
	Duration  time.Duration `short:"d" placeholder:"10s" help:"How long; 10s if the number of requests is not given either."`
	KeepAlive bool          `short:"k" name:"keep-alive" help:"Many requests a connection; else one."`
	Output    string        `short:"o" enum:"text,json" default:"text" help:"text or json."`

	Mix     string        `enum:"static,light,medium,heavy" default:"static" help:"How many files of the plan are replaced by a program: static, light, medium or heavy."`
	Dynamic string        `default:"/api/send" help:"The program that replaces them."`
	Think   time.Duration `default:"0s" help:"Pause of each client between a reply and its next request."`
	HTTP    string        `name:"http" enum:"1.0,1.1" default:"1.1" help:"Version of HTTP."`
	PerConn int           `name:"requests-per-conn" placeholder:"N" help:"With -k, close a connection after N requests."`

	Pipeline   int      `default:"1" help:"Requests under way on a connection."`
	Idle       int      `default:"0" help:"Further connections that are only held open."`
	Source     []string `placeholder:"ADDR|CIDR" help:"Local addresses to connect from, in turn."`
	CloseFirst string   `enum:"client,server" default:"server" help:"Who closes a connection first: client or server."`

	Method string   `placeholder:"M" help:"Method; GET by default."`
	Header []string `short:"H" sep:"none" placeholder:"K: V" help:"A further header line."`
	Body   string   `placeholder:"FILE" help:"Body of each request."`
	Seed   uint64   `default:"1" help:"Of the random order of a plan."`
}

// Validate refuses what no value of a flag can mean.
func (c *loadCmd) Validate() error {
	if _, _, err := plan.SplitURL(c.URL); err != nil {
		return err
	}
	for name, n := range map[string]int{"--clients": c.Clients, "--pipeline": c.Pipeline} {
		if n < 1 {
			return fmt.Errorf("%s: expected at least 1, but got %d", name, n)
		}
	}
	switch {
	case c.Duration < 0 || c.Think < 0 || c.PerConn < 0 || c.Idle < 0:
		return errors.New("a duration or number is negative")
	case c.Requests > 0 && c.Requests < uint64(c.Clients):
		return fmt.Errorf("-n %d: fewer requests than the %d clients", c.Requests, c.Clients)
	}
	return nil
}

// Run puts the load on and tells what came of it.
func (c *loadCmd) Run(s *streams) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	show, clear := loadProgress(s.err)
	config.Progress = show
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	result, err := load.Run(ctx, config)
	clear()
	if err != nil {
		return err
	}
	if c.Output == "json" {
		err = load.WriteJSON(s.out, result, s.args, experiment.Environment(fixtures.Expected().Digest))
	} else {
		err = load.WriteText(s.out, result)
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if verdict, _ := result.Verdict(); verdict.Failed() {
		return errSilent
	}
	return nil
}

func (c *loadCmd) config() (load.Config, error) {
	p, err := c.plan()
	if err != nil {
		return load.Config{}, err
	}
	sources, err := parseSources(c.Source)
	if err != nil {
		return load.Config{}, usageError{err}
	}
	return load.Config{
		URL: c.URL, Plan: p,
		Clients: c.Clients, Requests: c.Requests, Duration: c.Duration,
		Keepalive: c.KeepAlive, PerConn: c.PerConn, HTTP10: c.HTTP == "1.0", Pipeline: c.Pipeline,
		CloseFirst: c.CloseFirst == "client", Arrival: pace.Arrival{Think: c.Think}, Idle: c.Idle, Sources: sources,
	}, nil
}

// plan makes the plan. A single URL may be anyone's, so what is right is what
// its first reply was; a list is about the fixtures where it names them.
func (c *loadCmd) plan() (*plan.Plan, error) {
	o := plan.Options{Seed: c.Seed, Method: c.Method, Header: c.Header, Mix: plan.Mix(c.Mix), Dynamic: c.Dynamic}
	if c.Body != "" {
		body, err := os.ReadFile(c.Body)
		if err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		o.Body = body
	}
	if c.Plan == "" {
		return plan.URL(c.URL, o)
	}
	list, err := plan.Open(c.Plan)
	if err != nil {
		return nil, err
	}
	o.Files = known(fixtures.Expected())
	return plan.New(list, c.URL, o)
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

// maxSources bounds how many addresses of a network are used: each has some
// 28,000 ports.
const maxSources = 256

// parseSources expands addresses and networks.
func parseSources(names []string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, name := range names {
		if addr, err := netip.ParseAddr(name); err == nil {
			all = append(all, addr)
			continue
		}
		network, err := netip.ParsePrefix(name)
		if err != nil {
			return nil, fmt.Errorf("--source: expected an address or network such as 127.0.1.0/28, but got %q", name)
		}
		for a := network.Masked().Addr(); network.Contains(a) && len(all) < maxSources; a = a.Next() {
			all = append(all, a)
		}
	}
	return all, nil
}

// loadProgress shows how far a run is, if w is a terminal; clear wipes that.
func loadProgress(w io.Writer) (show func(load.Progress), clear func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	show = func(p load.Progress) {
		fmt.Fprintf(f, "\r\x1b[K%.0f s: %d good, %d bad", p.Elapsed.Seconds(), p.Good, p.Faulty)
	}
	return show, func() { fmt.Fprint(f, "\r\x1b[K") }
}
