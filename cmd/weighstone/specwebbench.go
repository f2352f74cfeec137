package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/report"
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
	Quick       bool          `help:"One iteration of 10 s after 2 s of warm-up for each load."`
	Out         string        `placeholder:"DIR" help:"Write the result as DIR/specweb99-style.json too; of several servers as DIR/NAME.json."`
	Output      string        `short:"o" enum:"text,json,csv" default:"text" help:"text, json or csv."`
}

// styleExperiment is how the list of experiments has this command.
func styleExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:     "specweb99-style",
		Question: "How many connections does a server hold at line speed, and does it keep its integrity meanwhile?",
		Held: "The SPECweb99-style workload: draws of files, operations and connections by fixed shares, lines of 400,000 bit/s, every body checked and the log of POSTs " +
			"compared with what was sent. All its knobs stand beside each result.",
		NotRepeated: "SPECweb99 itself: content, code and names are our own, and results are never to be compared with its.",
	}
}

// AfterApply makes a quick look of a load, whatever else was said of its length.
func (c *benchSpecwebCmd) AfterApply() error {
	if c.Quick {
		c.Iterations, c.Warmup, c.Duration = 1, min(c.Warmup, 2*time.Second), min(c.Duration, 10*time.Second)
	}
	return nil
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

// judge judges one server, and says whether it kept its integrity to the end.
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
		if err != nil && r != nil && len(r.Iterations) > 0 {
			return false, c.early(s, sub, &found{tried: []*specweb.Result{r}}, err)
		}
		if err != nil {
			return false, err
		}
		return r.Whole() && r.Complete(), c.write(s, sub, nil, r)
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
		Build:    experiment.Environment("").Build,
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
	bench.Search
	tried []*specweb.Result // in order
	best  *specweb.Result   // the last of the highest load that passed; if none did, of the lowest that failed
	whole bool              // the server kept its integrity throughout
}

// find searches for the most connections that conform, and tells each step.
func (c *benchSpecwebCmd) find(ctx context.Context, stderr io.Writer, config specweb.Config) (*found, error) {
	f := &found{Search: bench.Search{Within: c.Step, Most: c.Most}, whole: true}
	try := func(load int) (bool, error) {
		config.Connections, config.Dirs = load, c.dirs(load)
		r, err := specweb.Run(ctx, config)
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		if err != nil {
			return false, err
		}
		f.whole = f.whole && r.Whole()
		f.tried = append(f.tried, r)
		return r.Conforms(), r.WriteStep(stderr)
	}
	shown := func(step specweb.Step) {
		f.Steps = append(f.Steps, bench.Step{Connections: step.Load, Passed: step.Passed, Why: f.tried[len(f.tried)-1].Why()})
	}
	var err error
	f.Connections, f.Confirmed, err = specweb.Search(c.Connections, c.Most, c.Step, try, shown)
	for _, r := range f.tried {
		switch n := r.Config.Connections; {
		case r.Conforms() && n == f.Connections:
			f.best = r
		case f.Connections == 0 && (f.best == nil || n < f.best.Config.Connections):
			f.best = r
		}
	}
	return f, err
}

// search tells what a search found.
func (c *benchSpecwebCmd) search(ctx context.Context, s *streams, sub subject.Subject, config specweb.Config) (whole bool, err error) {
	f, err := c.find(ctx, s.err, config)
	if err != nil {
		return false, c.early(s, sub, f, err)
	}
	return f.whole, c.write(s, sub, f, f.tried...)
}

// early writes the document of what had been tried when an error ended it,
// where one was asked for, and returns the error.
func (c *benchSpecwebCmd) early(s *streams, sub subject.Subject, f *found, err error) error {
	if len(f.tried) == 0 || c.Output == "text" && c.Out == "" {
		return err
	}
	doc := experiment.Style(s.args, sub.Name(), sub.Facts(), f.tried...)
	if c.Search {
		doc.Search = &f.Search
	}
	doc.Verdict = doc.Verdict.Worse(bench.Incomplete)
	doc.Reasons = append([]string{fmt.Sprintf("ended after %d loads: %v", len(f.tried), err)}, doc.Reasons...)
	return errors.Join(err, c.tell(s, sub, doc))
}

// write tells of one load, or of a search and its best.
func (c *benchSpecwebCmd) write(s *streams, sub subject.Subject, f *found, results ...*specweb.Result) error {
	doc := experiment.Style(s.args, sub.Name(), sub.Facts(), results...)
	if f != nil {
		doc.Search, doc.Headline = &f.Search, []string{c.headline(sub, f)}
	}
	if err := c.tell(s, sub, doc); err != nil || c.Output != "text" {
		return err
	}
	if f == nil {
		return results[0].WriteText(s.out, sub.Name())
	}
	var steps []string
	for _, step := range f.Steps {
		steps = append(steps, specweb.Step{Load: step.Connections, Passed: step.Passed}.String())
	}
	fmt.Fprintf(s.out, "%s\nsteps        %s\n", doc.Headline[0], strings.Join(steps, ", "))
	return f.best.WriteText(s.out, sub.Name())
}

// tell writes a document wherever it was asked for.
func (c *benchSpecwebCmd) tell(s *streams, sub subject.Subject, doc *bench.Document) error {
	if c.Out != "" {
		name := doc.Name
		if len(c.Variants)+len(c.Subject) > 1 {
			name = sub.Name()
		}
		if err := experiment.Save(doc, c.Out, name); err != nil {
			return err
		}
	}
	if c.Output == "text" {
		return nil
	}
	return report.Write(s.out, c.Output, doc)
}

// headline says what a search found.
func (c *benchSpecwebCmd) headline(sub subject.Subject, f *found) string {
	least := ""
	switch {
	case !f.Confirmed:
		least = "now and then "
	case f.Connections == c.Most:
		least = "at least "
	}
	return fmt.Sprintf("%s: %s holds %s%d conforming connections (to within %d)", rules.Style, sub.Name(), least, f.Connections, c.Step)
}
