package study

import (
	"fmt"
	"time"
)

// The study's lines had 400,000 bit/s. A core of today carries thousands of
// those, which neither a short run nor a client on one core can ask for, so the
// lines here are a hundred times as fast.
const line2001 = 40_000_000

// posts2001 is how long a test of integrity is in each of six runs, 12,000 POSTs
// together (5,000 in each took half of make reproduce), and every2001 how seldom the
// cache cheats.
const posts2001, every2001 = 2000, 1000

// dirs2001 are the directories of the set, 5 MB each.
const dirs2001 = 5

// bound2001 is how many connections one server can hold: a load of passes2001
// passes, with some to spare for those that are just being closed, and one of
// fails2001 has less than four fifths of its rate.
const bound2001, passes2001, fails2001 = 24, 20, 40

// quickLow2001 is the load of a quick look that every server can hold.
const quickLow2001 = 40

// clients2001 are those of a test of integrity.
const clients2001 = 20

func ladder2001() []int { return []int{10, 20, 40, 60, 80, 120, 160, 240} }
func quick2001() []int  { return []int{quickLow2001, 240} }

// specweb2001 is the study of Zeus under SPECweb99, which caught the cache in
// Solaris' kernel logging more POSTs than were sent.
func specweb2001() Study {
	s := Study{
		Name:     "specweb99-2001",
		Title:    "SPECweb99, 2001 and 2002: Zeus on machines of IBM and Sun, with and without a cache in the kernel",
		Cite:     "published SPECweb99 results, 2001 and 2002",
		Question: "How many connections does a server keep at four fifths of their line's rate, how many more with a cache in front, and does the cache lose anything?",
		Claimed: "a cache in the kernel lets the same machine hold a fifth more connections, a server that is offered a little more than it can hold gives a " +
			"quarter of them too little, each of twelve processors holds a third less than each of two, and with higher loads the cache logged more POSTs than were sent",
		Held: fmt.Sprintf("The SPECweb99-style workload, of the structure of SPECweb99 but with our own content, code and names: 70 %% static files of four classes, "+
			"30 %% dynamic pages, of which some choose an advertisement, some log a POST and a few are CGI; %d directories; lines of %d Mbit/s each; a load "+
			"passes when 95 %% of its connections have four fifths of that over the run. Every body is checked, and the log of POSTs compared with what was sent. "+
			"Our loops have a core each, the client another. Never to be compared with SPECweb99 results.", dirs2001, line2001/1_000_000),
		NotRepeated: "The machines, Solaris and AIX, and Zeus. The lines had 400 kbit/s and loads lasted 20 minutes; here the lines are a hundred times as fast, and " +
			"loads last seconds, at fixed steps (weighstone bench specweb99-style --search finds the highest load to within a few connections). The cache " +
			"that cheats is ours (accel --fault): Sun's logged more POSTs than were sent, and why is not published. What bounded the study's machine is not known; here a bound on connections does. " +
			"The update of Solaris that cost four tenths of the connections (1,150, then 650) can't be repeated.",
		Duration: 5 * time.Second, QuickDuration: 1500 * time.Millisecond,
		Servers:   servers2001(),
		Published: figures2001(),
		Claims:    claims2001(),
	}
	s.Loads = []Load{
		{Key: "paced", Label: fmt.Sprintf("lines of %d Mbit/s", line2001/1_000_000), Style: &Style{Dirs: dirs2001, LineRate: line2001}},
		{Key: "integrity", Label: fmt.Sprintf("%d POSTs", posts2001), Style: &Style{Dirs: dirs2001, Posts: posts2001}},
	}
	s.Full, s.Quick = units2001(ladder2001(), 1, 2, 4), units2001(quick2001(), 1, 2)
	s.Tables, s.Charts = tables2001(), charts2001()
	s.Notes = []string{
		"A load that fails is a result, not a fault of the run: the study's tables have those too. What the most is that a server holds is known only to within the steps that were tried.",
		fmt.Sprintf("The cache that cheats logs one POST in %d twice, in a test of integrity of %d POSTs without a line rate, as the study's rules had it.", every2001, posts2001),
	}
	return s
}

// servers2001 are ours, with the study's that they stand for, then those of its
// machines for which none does.
func servers2001() []Server {
	cheat := fmt.Sprintf("replay-post:%d", every2001)
	all := []Server{
		{Key: "zeus-1", Published: "Zeus on one processor (IBM 44P-170)", Why: "an event loop, as Zeus is"},
		{Key: "zeus-2", Why: "with two"},
		{Key: "zeus-4", Published: "Zeus on four processors (Sun 420R)", Why: "with four"},
		{Key: "cache-1", Why: "the same loop with a cache of complete replies in front, in the process and not in the kernel"},
		{Key: "cache-2", Why: "with two"},
		{Key: "cache-4", Published: "Zeus and Solaris' cache on four processors (Sun 420R)", Why: "with four"},
		{Key: "bounded", Called: fmt.Sprintf("epoll that holds %d connections", bound2001), Variant: "epoll", Limited: true, Processors: 1,
			Flags: []string{"--workers", "1", "--max-conns", fmt.Sprint(bound2001)}, Why: "it fails by itself, and not for the client's sake, a step above what it can hold"},
		{Key: "cheat", Published: "Zeus and Solaris' cache on four processors, failed integrity (Sun 420R)", Variant: "accel", Limited: true, Processors: 1,
			Flags: []string{"--workers", "1", "--fault", cheat}, Why: "the cache, made to log one POST in " + fmt.Sprint(every2001) + " twice"},
	}
	for i, n := range []int{1, 2, 4, 1, 2, 4} {
		v := &all[i]
		v.Variant, v.Processors = "epoll", n
		if i >= 3 {
			v.Variant = "accel"
		}
		v.Flags = []string{"--workers", fmt.Sprint(n)}
		if v.Published == "" {
			v.Called = fmt.Sprintf("%s with %s", v.Variant, loops(n))
		}
	}
	for _, r := range table("specweb99-2001") {
		if key, ours := server2001(r["id"]); !ours {
			all = append(all, Server{Key: key, Published: fmt.Sprintf("%s on %s, %s processors, %s", r["server"], r["machine"], r["cpus"], r["os"])})
		}
	}
	return unique(all)
}

func loops(n int) string {
	if n == 1 {
		return "one loop"
	}
	return fmt.Sprintf("%d loops", n)
}

// unique drops servers that are there already: some machines have two rows.
func unique(all []Server) (kept []Server) {
	seen := map[string]bool{}
	for _, v := range all {
		if !seen[v.Key] {
			kept = append(kept, v)
		}
		seen[v.Key] = true
	}
	return kept
}

// server2001 is the key of the server of a published row, and whether one of
// ours stands for it. Two rows each of July 2001 are of one machine.
func server2001(id string) (key string, ours bool) {
	switch id {
	case "gsi2":
		return "zeus-1", true
	case "sun1":
		return "zeus-4", true
	case "sun2":
		return "cache-4", true
	case "sun3", "sun4", "sun5":
		return "cheat", true
	case "sun07a", "sun07b":
		return "sun07", false
	case "sun07c", "sun07d":
		return "sun07-patched", false
	}
	return id, false
}

// point2001 is that of a published row: where it does not say how many were
// attempted, as many as conformed.
func point2001(r map[string]string) Point {
	key, _ := server2001(r["id"])
	attempted := "attempted"
	if r[attempted] == "" {
		attempted = string(Conforming)
	}
	return Point{key, "paced", clientsOf(r, attempted)}
}

// row2001 is the point of the published row of a name.
func row2001(id string) (p Point) {
	for _, r := range table("specweb99-2001") {
		if r["id"] == id {
			p = point2001(r)
		}
	}
	return p
}

func figures2001() Figures {
	f := Figures{}
	for _, r := range table("specweb99-2001") {
		p := point2001(r)
		for _, m := range []Metric{Attempted, Conforming, PerProcessor} {
			if v, ok := r.Number(string(m)); ok {
				f.set(p, m, v)
			}
		}
		if v, ok := r.Number(string(Conforming)); ok && r["accepted"] != "failed" {
			f.set(p, Held, v)
		}
	}
	return f
}

// units2001 are the steps of each server, those of a step together, and the
// tests of integrity.
func units2001(ladder []int, processors ...int) (all []Unit) {
	for _, n := range ladder {
		var u Unit
		for _, cores := range processors {
			u = append(u, Point{fmt.Sprintf("zeus-%d", cores), "paced", n}, Point{fmt.Sprintf("cache-%d", cores), "paced", n})
		}
		all = append(all, u)
	}
	return append(all, Unit{{"bounded", "paced", passes2001}, {"bounded", "paced", fails2001}},
		Unit{{"zeus-1", "integrity", clients2001}, {"cache-1", "integrity", clients2001}, {"cheat", "integrity", clients2001}})
}

// tables2001 have the study's columns, with our steps and its rows.
func tables2001() []Table {
	columns := []Column{{"attempted", "paced", Attempted, 0}, {"conforming connections", "paced", Conforming, 0}, {"for each processor", "paced", PerProcessor, 1}}
	group := func(number, title string, servers ...string) Table {
		t := Table{Number: number, Title: title, Columns: columns}
		for _, key := range servers {
			for _, n := range ladder2001() {
				t.Points = append(t.Points, Point{key, "paced", n})
			}
		}
		for _, r := range table("specweb99-2001") {
			if p := point2001(r); t.Has(p.Server) || servers == nil {
				t.Points = append(t.Points, p)
			}
		}
		return t
	}
	others := group("4", "Other machines of the study")
	first := group("1", "Without a cache", "zeus-1", "zeus-2", "zeus-4")
	second := group("2", "With a cache in front", "cache-1", "cache-2", "cache-4")
	third := Table{Number: "3", Title: "With a cache that cheats", Columns: columns}
	bounded := Table{Number: "5", Title: "A step that passes and one that fails", Columns: columns,
		Points: []Point{{"bounded", "paced", passes2001}, {"bounded", "paced", fails2001}}}
	var rest []Point
	for _, p := range others.Points {
		switch {
		case p.Server == "cheat":
			third.Points = append(third.Points, p)
		case p.Server == "sun07", p.Server == "sun07-patched":
			bounded.Points = append(bounded.Points, p)
		case !first.Has(p.Server) && !second.Has(p.Server):
			rest = append(rest, p)
		}
	}
	others.Points = rest
	tested := Table{Number: "6", Title: "Tests of integrity", Columns: []Column{{"POSTs", "integrity", Posts, 0}, {"found broken", "integrity", Findings, 0}},
		Servers: []string{"zeus-1", "cache-1", "cheat"}, Clients: clients2001}
	return []Table{first, second, third, others, bounded, tested}
}

func charts2001() []Chart {
	return []Chart{{"Conforming connections by those attempted", Conforming, []Series{
		{"zeus-1", "paced"}, {"cache-1", "paced"}, {"sun07", "paced"}, {"sun07-patched", "paced"},
	}}}
}

// held2001 are all loads of a server, ours and the study's.
func held2001(key string) (all []Point) {
	for _, n := range ladder2001() {
		all = append(all, Point{key, "paced", n})
	}
	for p := range figures2001() {
		if p.Server == key {
			all = append(all, p)
		}
	}
	return all
}

func claims2001() []Claim {
	cpu := func(a, b string) Quotient {
		return ratio(Capacity, Point{a, "paced", quickLow2001}, Point{b, "paced", quickLow2001})
	}
	twelve := ratio(PerProcessor, row2001("s1"), row2001("s2"))
	cache := func(n int) Most {
		return Most{Num: held2001(fmt.Sprintf("cache-%d", n)), Den: held2001(fmt.Sprintf("zeus-%d", n))}
	}
	four := Most{Num: held2001("zeus-4"), Den: held2001("zeus-1"), Each: true, NumCores: 4, DenCores: 1}
	two := four
	two.Num, two.NumCores = held2001("zeus-2"), 2
	return []Claim{
		{"with a cache in front a server holds no fewer connections (one processor; the study's had four)", Likened{cache(1), cache(4)}, Range{Lo: 1}},
		{"with a cache in front a server holds more connections, by a fifth (four processors)", cache(4), Range{Lo: 1.1}},
		{"with more processors each holds fewer connections (four and one; the study's had twelve and two)", Likened{four, twelve}, Range{Hi: 1}},
		{"with more processors each holds fewer connections (two and one)", Likened{two, twelve}, Range{Hi: 1}},
		{"a load that a server can hold has all its connections at their rate", Likened{Reached{Point{"bounded", "paced", passes2001}}, Reached{row2001("sun07a")}}, Range{Lo: .95}},
		{"of a load beyond that, far fewer connections than were attempted", Likened{Reached{Point{"bounded", "paced", fails2001}}, Reached{row2001("sun07b")}}, Range{Hi: .95}},
		{"a cache that logs POSTs twice is caught", Broken{Point{"cheat", "integrity", clients2001}}, Range{Lo: .0004}},
		{"a cache that does not is not suspected (ours)", Broken{Point{"cache-1", "integrity", clients2001}}, Range{Hi: .0004}},
		{"nor is a server without a cache (ours)", Broken{Point{"zeus-1", "integrity", clients2001}}, Range{Hi: .0004}},
		{"with a cache in front a reply takes less of the processor (ours)", cpu("cache-1", "zeus-1"), Range{Lo: 1}},
	}
}
