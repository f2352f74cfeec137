package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/pace"
)

// arrival reads the flags that say how requests come. A rate or ramp alone
// means requests at equal distances.
func (c *loadCmd) arrival() (pace.Arrival, error) {
	a := pace.Arrival{Kind: pace.Kind(c.Arrival), Think: c.Think, Rate: given(c.Rate), Seed: c.Seed}
	if c.Arrival == "" && (c.Rate != nil || c.Ramp != "") {
		a.Kind = pace.Constant
	}
	if c.Ramp != "" {
		if c.Rate != nil {
			return a, errors.New("--ramp and --rate: a ramp says the rate itself")
		}
		if err := parseRamp(c.Ramp, &a); err != nil {
			return a, err
		}
	}
	if c.Rate != nil && a.Kind == pace.Closed {
		return a, errors.New("--arrival, --rate: a closed loop has no rate: the server sets it")
	}
	if err := a.Validate(); err != nil {
		return a, fmt.Errorf("--arrival, --rate: %w", err)
	}
	return a, nil
}

func parseRamp(s string, a *pace.Arrival) error {
	parts := strings.Split(s, ":")
	if len(parts) == 3 {
		from, err1 := strconv.ParseFloat(parts[0], 64)
		to, err2 := strconv.ParseFloat(parts[1], 64)
		over, err3 := time.ParseDuration(parts[2])
		if err1 == nil && err2 == nil && err3 == nil && from > 0 && to > 0 && over > 0 {
			a.From, a.Rate, a.Over = from, to, over
			return nil
		}
	}
	return fmt.Errorf("--ramp: expected two rates above 0 and a duration, such as 100:2000:30s, but got %q", s)
}

func (c *loadCmd) validLadder() error {
	if c.Arrival != "" && c.Arrival != string(pace.Closed) || c.Rate != nil || c.Ramp != "" {
		return errors.New("--ladder: its steps are closed loops, without --arrival, --rate and --ramp")
	}
	if c.Clients != nil {
		return errors.New("--ladder and -c: a ladder says the numbers of clients itself")
	}
	for _, n := range c.Ladder {
		if n < 1 || c.Requests != nil && *c.Requests < uint64(n) {
			return fmt.Errorf("--ladder: expected numbers of clients from 1 and up to the number of requests, but got %d", n)
		}
	}
	return nil
}

// load carries out the run, or one after another those of a ladder.
func (c *loadCmd) load(ctx context.Context, config load.Config) ([]*load.Result, error) {
	if len(c.Ladder) > 0 {
		return load.Ladder(ctx, config, c.Ladder)
	}
	r, err := load.Run(ctx, config)
	return []*load.Result{r}, err
}

// openLog makes the file of the histogram log, nil if none is wanted.
func (c *loadCmd) openLog() (*os.File, error) {
	if c.HLog == "" {
		return nil, nil
	}
	f, err := os.Create(c.HLog)
	if err != nil {
		return nil, fmt.Errorf("write the histogram log: %w", err)
	}
	return f, nil
}

// maxSources bounds how many addresses of a network are used: each has some
// 28,000 ports.
const maxSources = 256

// parseSources expands addresses and networks. One that is named twice counts
// once: it has no more ports for that.
func parseSources(names []string) ([]netip.Addr, error) {
	var all []netip.Addr
	add := func(a netip.Addr) {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	for _, name := range names {
		if addr, err := netip.ParseAddr(name); err == nil {
			add(addr)
			continue
		}
		network, err := netip.ParsePrefix(name)
		if err != nil {
			return nil, fmt.Errorf("--source: expected an address or network such as 127.0.1.0/28, but got %q", name)
		}
		for a := network.Masked().Addr(); network.Contains(a) && len(all) < maxSources; a = a.Next() {
			add(a)
		}
	}
	return all, nil
}
