package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// controls says what the controls of a document gave, a sentence each: the
// same server twice, the client's own ceiling, the order of cells as far as it
// can be told, and what could not be made equal.
func controls(d *bench.Document) (lines []string) {
	if k := d.Design; k != nil {
		quick := ""
		if k.Quick {
			quick = ", quick: fewer and shorter runs than a claim deserves"
		}
		lines = append(lines, fmt.Sprintf("%s, seed %d, %s%s", plural(k.Repetitions, "repetition"), k.Seed, k.Order, quick))
	}
	for _, n := range d.Noise {
		line := fmt.Sprintf("the same server twice, %s: %s %s", n.Subject, unit(n.Metric), number(n.Ratio, decimals(3)))
		if n.Lo != nil && n.Hi != nil {
			line += fmt.Sprintf(" [%.3f, %.3f]", *n.Lo, *n.Hi)
		}
		lines = append(lines, line)
	}
	for i := range d.Ceilings {
		c := &d.Ceilings[i]
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("the client's ceiling, against %s, %s: %s requests/s %s",
			c.Server, offered(&c.Load), median(c.RequestsPerS, thousands), interval(c.RequestsPerS, thousands))))
	}
	for _, r := range d.Rankings {
		var groups []string
		for _, g := range r.Groups {
			groups = append(groups, strings.Join(g, " = "))
		}
		lines = append(lines, fmt.Sprintf("%s, best first, = where no difference is shown: %s", unit(r.Metric), strings.Join(groups, "; ")))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Unequal)) {
		lines = append(lines, fmt.Sprintf("not equal, %s: %s", name, strings.Join(d.Unequal[name], "; ")))
	}
	return lines
}

// serverFigures lists what is known of the server's side.
func serverFigures[T any](s *bench.Server[T]) []figure[T] {
	if s == nil {
		return nil
	}
	return []figure[T]{
		{"server.user_us_per_request", s.UserMicros},
		{"server.system_us_per_request", s.SystemMicros},
		{"server.voluntary_switches_per_request", s.VoluntarySwitches},
		{"server.involuntary_switches_per_request", s.InvoluntarySwitches},
		{"server.minor_faults_per_request", s.MinorFaults},
		{"server.rss_bytes", s.RSSBytes},
		{"server.threads", s.Threads},
		{"server.processes", s.Processes},
		{"server.first_ms", s.FirstMS},
		{"server.worker_bytes", s.WorkerBytes},
		{"server.bytes_per_reply", s.BytesPerReply},
		{"server.events_per_wait", s.EventsPerWait},
	}
}

// why are the headings of what [whyRow] has of each cell.
var why = []string{">user us/req", ">system us/req", ">switches/req", ">forced/req", ">faults/req", ">RSS MiB", ">threads", ">processes", ">first ms", ">worker MiB", ">bytes/reply", ">events/wait"}

// whyRow is the server's side of a cell in the columns of why; nil where
// nothing is known of it.
func whyRow(c *bench.Cell) []string {
	s := c.Server
	if s == nil {
		return nil
	}
	mebi := func(v float64) string { return decimals(1)(v / (1 << 20)) }
	return []string{
		median(s.UserMicros, significant), median(s.SystemMicros, significant),
		median(s.VoluntarySwitches, significant), median(s.InvoluntarySwitches, significant), median(s.MinorFaults, significant),
		median(s.RSSBytes, mebi), median(s.Threads, whole), median(s.Processes, whole),
		median(s.FirstMS, significant), median(s.WorkerBytes, mebi),
		median(s.BytesPerReply, whole), median(s.EventsPerWait, significant),
	}
}

// rarest is how many calls a request a system call must come to, to be named.
const rarest = 0.005

// syscalls lists the system calls a request, the most frequent first; or why
// there are none to list. It is empty where nobody looked.
func syscalls(s *bench.Syscalls) string {
	if s == nil {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(s.PerRequest), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.PerRequest[b], s.PerRequest[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		if n := s.PerRequest[name]; n >= rarest {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, n))
		}
	}
	text := strings.Join(parts, ", ")
	if s.Note != "" {
		text = strings.TrimPrefix(text+"; "+s.Note, "; ")
	}
	return text
}

// cellName is what a cell is called where it is not in a table's row.
func cellName(c *bench.Cell) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("%s, %s, %d clients", c.Variant, loadWords(c), c.Load.Clients)
}

// circumstances says under which load cells were compared and how, where that
// is not plain, and how deep the servers' batches were.
func circumstances(c *bench.Comparison) string {
	var parts []string
	if c.At != "" {
		parts = append(parts, c.At)
	}
	if c.How == "unpaired" {
		parts = append(parts, "runs not paired")
	}
	if c.EventsA != nil && c.EventsB != nil {
		of := ""
		if c.EventsOf == "client" {
			of = " of the client's loop"
		}
		parts = append(parts, fmt.Sprintf("events per wait%s %s and %s", of, significant(*c.EventsA), significant(*c.EventsB)))
	}
	return strings.Join(parts, ", ")
}
