package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/specweb"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/fixtures"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/proc"
	"github.com/weighstone/weighstone/servers"
)

// benchSpecwebCmd judges how many connections a server can hold under the
// SPECweb99-style workload.
type benchSpecwebCmd struct {
	Connections int           `short:"c" default:"50" help:"Connections at a time; with --search, where it begins."`
	Search      bool          `help:"Find the most connections that conform."`
	Most        int           `default:"10000" help:"Of the search."`
	Step        int           `default:"10" help:"How near the search is to come."`
	Variants    []string      `placeholder:"A,B" help:"Servers of ours; by default epoll."`
	Subject     []string      `sep:"none" placeholder:"NAME=URL" help:"A server that runs already."`
	ServerArgs  []string      `name:"serve-flag" sep:"none" placeholder:"FLAG" help:"A further flag for serve, such as --serve-flag=--workers=2."`
	Fault       string        `placeholder:"MODE:N" help:"Have accel make faults: see serve --help."`
	Dirs        int           `default:"25" help:"Directories of the set; 0: as many as the rules of 1999 give the load."`
	LineRate    int           `default:"400000" help:"Of each connection, in bit/s; 0: as fast as replies come."`
	Delay       time.Duration `placeholder:"TIME" help:"How far away the clients are, there and back: the generator acts on each reply so much later, and on one by a new connection twice as much."`
	Netem       time.Duration `placeholder:"TIME" help:"Have the kernel delay each packet, in a network of its own with the servers; needs root or user namespaces, tc and a kernel with netem."`
	Mount       string        `enum:",ro,noatime,atime" default:"" placeholder:"ro|noatime|atime" help:"Serve the set from a mount with this option, in a namespace of its own; needs root or user namespaces. Files in memory are not read again: with --serve-flag=--file-cache=none they are."`
	Warmup      time.Duration `default:"10s" help:"Before each iteration."`
	Duration    time.Duration `short:"d" default:"60s" help:"Of an iteration."`
	Iterations  int           `default:"3" help:"Of each load; all must conform."`
	HTTP        string        `name:"http" enum:"1.0,1.1" default:"1.1" help:"Version: 1.0 or 1.1."`
	Conditional float64       `placeholder:"SHARE" help:"Share of the static requests that ask whether the file has changed, from 0 to 1; there were none in 1999."`
	Arrival     string        `enum:"closed,constant,poisson" default:"closed" help:"closed; or without a line rate constant or poisson, at --rate."`
	Rate        float64       `placeholder:"R" help:"Requests a second of an open loop."`
	Integrity   bool          `help:"Test integrity: no line rate, until --posts POSTs."`
	Posts       int           `default:"5000" help:"Of a test of integrity."`
	Users       int           `default:"10000" help:"Of the table of users."`
	Timeout     time.Duration `default:"30s" help:"For a reply."`
	Generator   int           `name:"workers" placeholder:"N" help:"Threads of the load generator."`
	Fixtures    string        `placeholder:"DIR" help:"The content, to which the set is added if it is not there; by default in the user's cache."`
	Seed        uint64        `default:"1" help:"Of all draws."`
	mountedAt   string        // where the set is, to be undone at the end
	Output      string        `short:"o" enum:"text,json" default:"text" help:"text or json."`
}

// Validate refuses what no value of a flag can mean.
func (c *benchSpecwebCmd) Validate() error {
	switch {
	case c.Connections < 1, c.Most < c.Connections && c.Search, c.Step < 1, c.Iterations < 1, c.Posts < 1, c.Users < 1, c.Users > rules.MaxUsers:
		return errors.New("--connections, --most, --step, --iterations, --posts, --users: expected at least 1, and no more than there can be")
	case c.Dirs < 0, c.Dirs > rules.MaxDirs, c.LineRate < 0, c.Warmup < 0, c.Duration <= 0, c.Timeout <= 0, c.Generator < 0:
		return errors.New("--dirs, --line-rate, --warmup, --duration, --timeout, --workers: the value is too small or too large")
	case c.Search && (c.Integrity || c.LineRate == 0):
		return errors.New("--search: finds what conforms by rate, so it needs a line rate and excludes --integrity")
	}
	if c.Conditional < 0 || c.Conditional > 1 {
		return fmt.Errorf("--conditional: expected 0 to 1, but got %v", c.Conditional)
	}
	if c.Delay < 0 || c.Netem < 0 {
		return errors.New("--delay, --netem: the value is too small")
	}
	if (c.Netem > 0 || c.Mount != "") && len(c.Subject) > 0 {
		return errors.New("--netem, --mount: a server that runs already is not in the namespaces that are made for them")
	}
	arrival := c.arrival()
	if err := arrival.Validate(); err != nil {
		return err
	}
	if arrival.Open() && (c.LineRate > 0 || c.Integrity || c.Delay > 0) {
		return errors.New("--arrival: an open loop needs --line-rate 0, and is not for --integrity or --delay")
	}
	for _, name := range c.Variants {
		if _, err := servers.Find(name); err != nil {
			return err
		}
		if c.Fault != "" && name != faulty {
			return fmt.Errorf("--fault: %s makes no faults; only %s does", name, faulty)
		}
	}
	if c.Fault != "" && len(c.Variants) == 0 {
		return fmt.Errorf("--fault: needs --variants %s", faulty)
	}
	_, err := c.remotes()
	return err
}

func (c *benchSpecwebCmd) arrival() pace.Arrival {
	return pace.Arrival{Kind: pace.Kind(c.Arrival), Rate: c.Rate, Seed: c.Seed}
}

// remotes are the servers that run already.
func (c *benchSpecwebCmd) remotes() (all []subject.Subject, err error) {
	for _, pair := range c.Subject {
		name, url, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("--subject: expected NAME=URL, but got %q", pair)
		}
		remote, err := subject.NewRemote(name, url, c.probe())
		if err != nil {
			return nil, err
		}
		all = append(all, remote)
	}
	return all, nil
}

// Run judges one server after the other.
func (c *benchSpecwebCmd) Run(s *streams) error {
	if inside, err := c.enter(s); !inside {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	subjects, err := c.remotes()
	if err != nil {
		return usageError{err}
	}
	defer func() {
		if c.mountedAt != "" {
			unmount(c.mountedAt)
		}
	}()
	spawner := proc.NewSpawner()
	defer spawner.Close()
	if len(c.Variants) == 0 && len(subjects) == 0 {
		c.Variants = []string{"epoll"}
	}
	ours, err := c.ours(s, spawner)
	if err != nil {
		return err
	}
	failed := false
	for _, sub := range append(ours, subjects...) {
		whole, err := c.judge(ctx, s, sub)
		if err != nil {
			return fmt.Errorf("%s: %w", sub.Name(), err)
		}
		failed = failed || !whole
	}
	if failed {
		return errSilent
	}
	return nil
}

// enter goes into the namespaces that --netem and --mount need, and says whether
// this process is in them, or needs none.
func (c *benchSpecwebCmd) enter(s *streams) (inside bool, err error) {
	var flags uintptr
	if c.Netem > 0 {
		flags |= syscall.CLONE_NEWNET
	}
	if c.Mount != "" {
		flags |= syscall.CLONE_NEWNS
	}
	if flags == 0 {
		return true, nil
	}
	if inside, err = enterNamespaces(flags, s); !inside || c.Netem == 0 {
		return inside, err
	}
	if err := delayLoopback(c.Netem); err != nil {
		return false, fmt.Errorf("--netem: %w", err)
	}
	return true, nil
}

// ours are the servers of this program, and the set that they serve.
func (c *benchSpecwebCmd) ours(s *streams, spawner *proc.Spawner) (all []subject.Subject, err error) {
	if len(c.Variants) == 0 {
		return nil, nil
	}
	dir := c.Fixtures
	if dir == "" {
		dir = fixtures.DefaultDir()
	}
	if _, err := fixtures.Ensure(dir); err != nil {
		return nil, err
	}
	dirs := c.dirs(c.Connections)
	if c.Search {
		dirs = c.dirs(c.Most)
	}
	if rules.Dirs(dir) < dirs {
		fmt.Fprintf(s.err, "weighstone: writing the %s set, %d directories of 5 MB, to %s\n", rules.Style, dirs, dir)
		if err := rules.NewSet(fixtures.Seed).Write(dir, dirs, fixtures.Modified()); err != nil {
			return nil, err
		}
	}
	if c.Mount != "" {
		if dir, err = mounted(dir, c.Mount); err != nil {
			return nil, err
		}
		c.mountedAt = dir
	}
	binary, err := self()
	if err != nil {
		return nil, err
	}
	flags := append([]string{"--fixtures", dir}, c.ServerArgs...)
	if c.Fault != "" {
		flags = append(flags, "--fault", c.Fault, "--seed", fmt.Sprint(c.Seed))
	}
	for _, name := range c.Variants {
		all = append(all, subject.New(subject.Weighstone(binary, name, flags...), subject.Options{
			Spawner: spawner, Probe: c.probe(),
		}))
	}
	return all, nil
}

// probe asks for a file of the last directory, so that the set is large enough.
func (c *benchSpecwebCmd) probe() subject.Probe {
	load := c.Connections
	if c.Search {
		load = c.Most
	}
	f := rules.File{Dir: c.dirs(load) - 1}
	r := rules.NewSet(fixtures.Seed).Read(f, -1)
	return subject.Probe{Path: rules.Prefix + f.Path(), Body: r.AppendRest(nil)}
}

// dirs is how many directories a load is spread over.
func (c *benchSpecwebCmd) dirs(connections int) int {
	if c.Dirs > 0 {
		return c.Dirs
	}
	return rules.DirsFor(connections)
}

// judge judges one server, and says whether it kept its integrity.
func (c *benchSpecwebCmd) judge(ctx context.Context, s *streams, sub subject.Subject) (whole bool, err error) {
	url, err := sub.Start(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = errors.Join(err, sub.Stop(end))
	}()
	config := c.config(url, sub, s.err)
	if !c.Search {
		r, err := specweb.Run(ctx, config)
		if err != nil {
			return false, err
		}
		return r.Whole(), c.write(s, sub, r)
	}
	return c.search(ctx, s, sub, config)
}

// config are the knobs.
func (c *benchSpecwebCmd) config(url string, sub subject.Subject, stderr io.Writer) specweb.Config {
	config := specweb.Config{
		URL: url, Connections: c.Connections, Dirs: c.dirs(c.Connections), LineRate: c.LineRate,
		Warmup: c.Warmup, Duration: c.Duration, Iterations: c.Iterations, HTTP10: c.HTTP == "1.0",
		Seed: c.Seed, Users: c.Users, Timeout: c.Timeout, Workers: c.Generator,
		Conditional: c.Conditional, Arrival: c.arrival(), Delay: c.Delay, Netem: c.Netem, Mount: c.Mount,
		Content:  rules.NewSet(fixtures.Seed),
		Progress: func(stage string) { fmt.Fprintf(stderr, "weighstone: %s: %s\n", sub.Name(), stage) },
	}
	if _, err := sub.Usage(); !errors.Is(err, subject.ErrNotHere) {
		config.Usage = sub.Usage
	}
	if c.Integrity {
		config.LineRate, config.Posts = 0, c.Posts
	}
	return config
}

// A found is what a search found.
type found struct {
	most      int // connections that conform
	confirmed bool
	steps     []string
	passed    map[int]*specweb.Result // the last result of each load that passed
	failed    map[int]*specweb.Result // and that failed
	whole     bool                    // the server kept its integrity throughout
}

// find searches for the most connections that conform, and tells each step.
func (c *benchSpecwebCmd) find(ctx context.Context, stderr io.Writer, config specweb.Config) (*found, error) {
	f := &found{passed: map[int]*specweb.Result{}, failed: map[int]*specweb.Result{}, whole: true}
	try := func(load int) (bool, error) {
		config.Connections, config.Dirs = load, c.dirs(load)
		r, err := specweb.Run(ctx, config)
		if err == nil && ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		if err != nil {
			return false, err
		}
		f.whole = f.whole && r.Whole()
		if r.Conforms() {
			f.passed[load] = r
		} else {
			f.failed[load] = r
		}
		return r.Conforms(), r.WriteStep(stderr)
	}
	var err error
	f.most, f.confirmed, err = specweb.Search(c.Connections, c.Most, c.Step, try, func(step specweb.Step) { f.steps = append(f.steps, step.String()) })
	return f, err
}

// search tells what a search found.
func (c *benchSpecwebCmd) search(ctx context.Context, s *streams, sub subject.Subject, config specweb.Config) (whole bool, err error) {
	f, err := c.find(ctx, s.err, config)
	if err != nil {
		return false, err
	}
	best := f.passed[f.most] // nil if nothing conforms
	if c.Output == "json" {
		return f.whole, writeJSON(s.out, map[string]any{"style": rules.Style, "server": sub.Name(), "connections": f.most, "confirmed": f.confirmed, "steps": f.steps, "best": best})
	}
	least := ""
	switch {
	case !f.confirmed:
		least = "now and then "
	case f.most == c.Most:
		least = "at least "
	}
	fmt.Fprintf(s.out, "%s: %s holds %s%d conforming connections (to within %d)\nsteps        %s\n", rules.Style, sub.Name(), least, f.most, c.Step, strings.Join(f.steps, ", "))
	if best == nil { // then the least that failed shows why, and the knobs
		best = f.failed[slices.Min(slices.Collect(maps.Keys(f.failed)))]
	}
	return f.whole, best.WriteText(s.out, sub.Name())
}

func (c *benchSpecwebCmd) write(s *streams, sub subject.Subject, r *specweb.Result) error {
	if c.Output == "json" {
		return writeJSON(s.out, map[string]any{"style": rules.Style, "server": sub.Name(), "verdict": r.Verdict(), "result": r})
	}
	return r.WriteText(s.out, sub.Name())
}
