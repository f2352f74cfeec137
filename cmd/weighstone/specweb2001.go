package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/weighstone/weighstone/bench/published"
	"github.com/weighstone/weighstone/bench/specweb"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/proc"
	"github.com/weighstone/weighstone/internal/sys"
)

// benchStudyCmd repeats the structure of a study of 2001, which measured Zeus on
// several processors, with and without a cache in the kernel, and caught the
// cache logging more POSTs than were sent.
type benchStudyCmd struct {
	Quick      bool          `help:"One iteration of 20 s for each load in place of three of 60 s."`
	Processors int           `placeholder:"N" help:"Up to so many loops; by default as many as there are cores."`
	From       int           `default:"50" help:"Connections at which each search begins."`
	Most       int           `default:"10000" help:"At which it ends."`
	Step       int           `default:"50" help:"How near it is to come."`
	LineRate   int           `default:"400000" help:"Of each connection, in bit/s."`
	Warmup     time.Duration `default:"10s" help:"Before each iteration."`
	Duration   time.Duration `short:"d" default:"60s" help:"Of an iteration."`
	Dirs       int           `default:"25" help:"Directories of the set."`
	Posts      int           `default:"5000" help:"Of the test of integrity."`
	Every      int           `default:"1000" help:"The cache that cheats logs one POST in so many twice."`
	Fixtures   string        `placeholder:"DIR" help:"The content; by default in the user's cache."`
	Seed       uint64        `default:"1" help:"Of all draws."`
	Output     string        `short:"o" enum:"text,json" default:"text" help:"text or json."`
}

// Validate refuses what no value of a flag can mean.
func (c *benchStudyCmd) Validate() error {
	if c.From < 1 || c.Most < c.From || c.Step < 1 || c.LineRate < 1 || c.Warmup < 0 || c.Duration <= 0 || c.Dirs < 1 || c.Dirs > rules.MaxDirs || c.Posts < 1 || c.Every < 1 || c.Processors < 0 {
		return errors.New("a number is too small, or --from is above --most")
	}
	return nil
}

// A studyRow is a row in the manner of the study's tables.
type studyRow struct {
	Server     string `json:"server"`
	Processors int    `json:"processors"`
	Cache      bool   `json:"cache"`
	Outcome    string `json:"outcome"` // passed, failed performance, failed integrity
	Attempted  int    `json:"attempted"`
	Conforming int    `json:"conforming_connections"`
	Confirmed  bool   `json:"confirmed"` // the search's ends held twice
}

// Run makes the rows and tells them, the study's own behind.
func (c *benchStudyCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	spawner := proc.NewSpawner()
	defer spawner.Close()
	most := c.Processors
	if most == 0 {
		most = len(sys.Cores())
	}
	var rows []studyRow
	for n := 1; n <= most; n++ {
		for _, variant := range []string{"epoll", faulty} {
			found, err := c.searched(ctx, s, spawner, variant, n)
			if err != nil {
				return fmt.Errorf("%s with %d loops: %w", variant, n, err)
			}
			rows = append(rows, found...)
		}
	}
	row, err := c.cheating(ctx, s, spawner, most)
	if err != nil {
		return fmt.Errorf("the cache that cheats: %w", err)
	}
	return c.write(s, append(rows, row))
}

// judge are the flags of a judgement of one of our servers with n loops.
func (c *benchStudyCmd) judge(variant string, n int) *benchSpecwebCmd {
	j := &benchSpecwebCmd{
		Connections: c.From, Search: true, Most: c.Most, Step: c.Step, Variants: []string{variant},
		ServerArgs: []string{fmt.Sprintf("--workers=%d", n)}, Dirs: c.Dirs, LineRate: c.LineRate, Warmup: c.Warmup, Duration: c.Duration,
		Iterations: 3, HTTP: "1.1", Posts: c.Posts, Users: 10_000, Timeout: 30 * time.Second, Fixtures: c.Fixtures, Seed: c.Seed,
	}
	if c.Quick {
		j.Iterations, j.Duration = 1, min(c.Duration, 20*time.Second)
	}
	return j
}

// started starts the server of a judgement, has use ask it, and stops it.
func started(ctx context.Context, s *streams, spawner *proc.Spawner, j *benchSpecwebCmd, use func(specweb.Config) error) (err error) {
	ours, err := j.ours(s, spawner)
	if err != nil {
		return err
	}
	url, err := ours[0].Start(ctx)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = errors.Join(err, ours[0].Stop(end))
	}()
	return use(j.config(url, ours[0], s.err))
}

// searched are the highest load that passes and the lowest above it that fails.
func (c *benchStudyCmd) searched(ctx context.Context, s *streams, spawner *proc.Spawner, variant string, n int) (rows []studyRow, err error) {
	j := c.judge(variant, n)
	var f *found
	if err := started(ctx, s, spawner, j, func(config specweb.Config) (err error) {
		f, err = j.find(ctx, s.err, config)
		return err
	}); err != nil {
		return nil, err
	}
	defer func() {
		for i := range rows {
			rows[i].Confirmed = f.confirmed
		}
	}()
	if f.most > 0 {
		rows = append(rows, c.row(variant, n, f.most, f.passed[f.most]))
	}
	var failed []int
	for load := range f.failed {
		if load > f.most {
			failed = append(failed, load)
		}
	}
	if len(failed) > 0 {
		load := slices.Min(failed)
		rows = append(rows, c.row(variant, n, load, f.failed[load]))
	}
	return rows, nil
}

// cheating tests the integrity of a cache that logs some POSTs twice.
func (c *benchStudyCmd) cheating(ctx context.Context, s *streams, spawner *proc.Spawner, n int) (row studyRow, err error) {
	j := c.judge(faulty, n)
	j.Search, j.Integrity, j.Fault = false, true, fmt.Sprintf("replay-post:%d", c.Every)
	err = started(ctx, s, spawner, j, func(config specweb.Config) error {
		config.Iterations = 1
		r, err := specweb.Run(ctx, config)
		if err == nil {
			row = c.row(faulty+" --fault "+j.Fault, n, config.Connections, r)
			row.Confirmed = true
		}
		return err
	})
	return row, err
}

// row says what came of a load.
func (c *benchStudyCmd) row(server string, n, load int, r *specweb.Result) studyRow {
	row := studyRow{Server: server, Processors: n, Cache: server != "epoll", Attempted: load, Outcome: "passed"}
	switch {
	case !r.Whole():
		row.Outcome = "failed integrity"
		return row // as in the study, it has no other result
	case !r.Conforms():
		row.Outcome = "failed performance"
	}
	row.Conforming = r.Conforming()
	return row
}

func (c *benchStudyCmd) write(s *streams, rows []studyRow) error {
	table, err := published.Table("specweb99-2001")
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return writeJSON(s.out, map[string]any{"style": rules.Style, "rows": rows, "published": table})
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: conforming connections, line rate %d bit/s, %d directories; never to be compared with SPECweb99 results\n\n", rules.Style, c.LineRate, c.Dirs)
	fmt.Fprintf(w, "server\tprocessors\tcache\toutcome\tattempted\tconforming\tper processor\n")
	for _, r := range rows {
		if !r.Confirmed {
			r.Outcome += ", not confirmed"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%d\t%.0f\n", r.Server, r.Processors, yes(r.Cache), r.Outcome, r.Attempted, r.Conforming, float64(r.Conforming)/float64(r.Processors))
	}
	fmt.Fprintf(w, "\npublished in 2001 and 2002, of other machines\nmachine\tprocessors\tkernel cache\toutcome\tattempted\tconforming\tper processor\n")
	for _, r := range table {
		fmt.Fprintf(w, "%s, %s\t%s\t%s\t%s\t%s\t%s\t%s\n", r["machine"], r["os"], r["cpus"], r["kernel_cache"], r["accepted"], r["attempted"], r["conforming_connections"], r["per_cpu"])
	}
	return w.Flush()
}
