package specweb

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// Verdict says in one line what came of a load.
func (r *Result) Verdict() string {
	c := &r.Config
	switch {
	case !r.Whole():
		return fmt.Sprintf("%s: replies-wrong: the server did not keep its integrity", rules.Style)
	case c.Posts > 0 && r.Conforms():
		return fmt.Sprintf("%s: integrity kept", rules.Style)
	case r.Conforms() && c.LineRate == 0:
		return fmt.Sprintf("%s: %d connections passed, without a line rate", rules.Style, c.Connections)
	case r.Conforms():
		return fmt.Sprintf("%s: %d connections conform", rules.Style, c.Connections)
	case !r.Complete():
		return fmt.Sprintf("%s: incomplete: interrupted", rules.Style)
	}
	return fmt.Sprintf("%s: %d connections do not conform", rules.Style, c.Connections)
}

// median of what an iteration has.
func median[T int | float64 | time.Duration](r *Result, of func(*Iteration) T) T {
	var all []T
	for i := range r.Iterations {
		all = append(all, of(&r.Iterations[i]))
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// WriteText tells of a load: the verdict, the medians, each iteration, and the
// knobs.
func (r *Result) WriteText(w io.Writer, server string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Verdict())
	fmt.Fprintf(&b, "server       %s\n", server)
	fmt.Fprintf(&b, "median       %.1f operations/s; server %s; p50 %s, p90 %s, p99 %s\n",
		median(r, func(i *Iteration) float64 { return i.Rate }), micros(median(r, func(i *Iteration) float64 { return i.CPUMicros })),
		millis(median(r, func(i *Iteration) time.Duration { return i.P50 })), millis(median(r, func(i *Iteration) time.Duration { return i.P90 })),
		millis(median(r, func(i *Iteration) time.Duration { return i.P99 })))
	for i := range r.Iterations {
		r.writeIteration(&b, i)
	}
	r.Config.write(&b)
	fmt.Fprintf(&b, "versions     server %s; generator %s\n", orUnknown(r.software()), orUnknown(r.Config.Build))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteStep tells of a load in one line, and why it failed.
func (r *Result) WriteStep(w io.Writer) error {
	why := r.Why()
	if why != "" {
		why = ": " + why
	}
	_, err := fmt.Fprintf(w, "%s%s; %.1f operations/s, server %s, p99 %s\n", r.Verdict(), why,
		median(r, func(i *Iteration) float64 { return i.Rate }), micros(median(r, func(i *Iteration) float64 { return i.CPUMicros })),
		millis(median(r, func(i *Iteration) time.Duration { return i.P99 })))
	return err
}

func (r *Result) writeIteration(b *strings.Builder, n int) {
	it := &r.Iterations[n]
	c, log := it.Conformance, it.Integrity
	fmt.Fprintf(b, "\niteration %d: ", n+1)
	if c.Needed > 0 {
		fmt.Fprintf(b, "%d of %d connections above %.0f bit/s, mean %.0f; ", c.Conforming, c.Connections, c.Needed, c.MeanRate)
	}
	fmt.Fprintf(b, "%d requests, %d failed; %.1f operations/s\n", c.Requests, c.Failed, it.Rate)
	for _, s := range c.Operations {
		fmt.Fprintf(b, "  %-8s %8d  %6.2f %%  of %5.2f %%  %d failed\n", s.Name, s.Asked, s.Got, s.Wanted, s.Failed)
	}
	if it.ClientBytes > 0 {
		fmt.Fprintf(b, "  memory of the generator: %.1f MB beside its sockets' buffers\n", float64(it.ClientBytes)/1e6)
	}
	fmt.Fprintf(b, "  rate of the slowest connections, bit/s: %s\n", curve(c.Rates))
	for _, reason := range c.Reasons {
		fmt.Fprintf(b, "  does not conform: %s\n", reason)
	}
	fmt.Fprintf(b, "  log: %d POSTs sent, %d of them without a reply, %d records; %d lost, %d duplicated, %d reordered, %d corrupted, %d foreign; %d replies wrong\n",
		log.Sent, log.Unknown, log.Records, log.Lost.N, log.Duplicated.N, log.Reordered.N, log.Corrupted.N, log.Foreign.N, it.Wrong)
	for _, k := range append(log.kinds(), kind{"wrong", &Findings{it.Wrong, it.WrongFirst}}) {
		for _, text := range k.of.First {
			fmt.Fprintf(b, "    %s: %s\n", k.name, text)
		}
	}
}

// write tells the knobs.
func (c *Config) write(b *strings.Builder) {
	version, line, length := "1.1", "off", fmt.Sprintf("%v after %v of warm-up", c.Duration, c.Warmup)
	if c.HTTP10 {
		version = "1.0"
	}
	if c.LineRate > 0 {
		line = fmt.Sprintf("%d bit/s", c.LineRate)
	}
	if c.Posts > 0 {
		length = fmt.Sprintf("until %d POSTs", c.Posts)
	}
	fmt.Fprintf(b, "\nknobs        %d connections, line rate %s, %d directories (%d MB), %d x %s, HTTP/%s, %d users, seed %d\n",
		c.Connections, line, c.Dirs, c.Dirs*rules.DirBytes/1e6, c.Iterations, length, version, c.Users, c.Seed)
	if c.Delay > 0 {
		fmt.Fprintf(b, "             the generator adds %v there and back, which its quantiles leave out\n", c.Delay)
	}
	if c.Netem > 0 {
		fmt.Fprintf(b, "             the kernel adds %v to each packet (netem)\n", c.Netem)
	}
	if c.Mount != "" {
		fmt.Fprintf(b, "             the set is mounted %s\n", c.Mount)
	}
	if c.Conditional > 0 {
		fmt.Fprintf(b, "             %g %% of the static requests ask whether the file has changed\n", 100*c.Conditional)
	}
	if c.Arrival.Open() {
		fmt.Fprintf(b, "             requests come in an open loop: %s, %g a second\n", &c.Arrival, c.Arrival.Rate)
	}
}

// curve are the quantiles of the connections' rates that show how many conform
// and by how much.
func curve(rates []float64) string {
	sorted := slices.Sorted(slices.Values(rates))
	var parts []string
	for _, percent := range []int{0, 1, 5, 10, 25, 50, 100} {
		parts = append(parts, fmt.Sprintf("%d %% %.0f", percent, sorted[(len(sorted)-1)*percent/100]))
	}
	return strings.Join(parts, ", ")
}

func orUnknown(version string) string {
	if version == "" {
		return "not known"
	}
	return version
}

func micros(v float64) string {
	if v == 0 {
		return "CPU not known"
	}
	return fmt.Sprintf("%.1f us of CPU a request", v)
}

// millis tells a quantile, 0 of one that too few replies leave open.
func millis(d time.Duration) string {
	if d == 0 {
		return "not known"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}
