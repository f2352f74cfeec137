package study

import (
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
)

// webstone1996 is the study in which Microsoft's IIS, with ISAPI, met
// Netscape's NetSite, with NSAPI, and both met CGI, under WebStone 1.1.
func webstone1996() Study {
	s := Study{
		Name:     "webstone-1996",
		Title:    "WebStone 1.1, February 1996: IIS and NetSite, by API and by CGI",
		Cite:     "Haynes & Company and Shiloh Consulting, February 1996",
		Question: "How much more do two servers answer when pages are made inside them than when CGI programs make them, from 16 to 128 clients?",
		Claimed: "pages made inside the server by its API come several times as fast as by CGI, the more so the more of them are dynamic, and " +
			"a server of one process with a pool of threads keeps its rate with 128 clients where a pool of processes does not",
		Held: "One server program answers for both, only its architecture differs; static, light (50 of 200 accesses dynamic), medium (84) and heavy (all) " +
			"mixes of WebStone 1.1 over Silicon Surf, a page's files one after another, one connection a request, HTTP/1.0, no think time, closed loop. " +
			"A dynamic page has the size of the file that it replaces, made by the same rule by API and CGI. The access log is on and emptied between loads. " +
			"A backlog of 150 for IIS's place and 32 to 64 processes for NetSite's, as the study set them.",
		NotRepeated: "The machines, Windows NT and networks of 1996; its file list, whose text is lost (this is a reconstruction); runs of five minutes. " +
			"NetSite on Windows NT had threads in its processes: prefork has one connection a process. A process start costs what it costs on today's kernel. " +
			"The study's processor was the limit almost everywhere, as its CPU tables say; here the client may be. So what a server can do is judged by " +
			"replies a second of its processor, which the client does not touch, and rates are claimed only where the server's core was 95 % busy.",
		Duration: 2 * time.Second, QuickDuration: 500 * time.Millisecond,
		Servers: []Server{
			{Key: "iis", Published: "IIS", Variant: "thread-pool", Flags: []string{"--backlog", "150"}, AccessLog: true,
				Why: "one process, whose pool of threads takes connections from a queue"},
			{Key: "netsite", Published: "NetSite", Variant: "prefork", AccessLog: true,
				Flags: []string{"--workers", "32", "--min-workers", "32", "--max-workers", "64"},
				Why:   "a pool of processes, each of which accepts for itself"},
			{Key: "iis-16", Variant: "thread-pool", Flags: []string{"--backlog", "16"}, AccessLog: true, Changes: "iis", Change: "a backlog of 16 instead of 150"},
			{Key: "netsite-16", Variant: "prefork", AccessLog: true, Changes: "netsite", Change: "16 to 32 processes instead of 32 to 64",
				Flags: []string{"--workers", "16", "--min-workers", "16", "--max-workers", "32"}},
		},
		Published: figures1996(),
	}
	s.Loads = loads1996()
	s.Full, s.Quick = units1996()
	s.Tables, s.Charts = tables1996(s.Loads), charts1996()
	s.Claims = claims1996()
	s.Notes = []string{
		"The study's words say that there were no errors with static pages or the API; its tables give errors for CGI only, so that nothing is published beside those rows.",
		"The published figures of a ratio are those at 128 clients; the study's own 2.7, 3.5 and 4.5 are of all loads together.",
	}
	return s
}

// clients1996 are the study's numbers of clients.
func clients1996() []int { return []int{16, 32, 48, 64, 80, 96, 112, 128} }

// loads1996 are static pages, and three mixes by two mechanisms.
func loads1996() []Load {
	const list = "silicon-surf-1.x"
	all := []Load{{Key: "static", Label: "static", List: list, Mix: plan.Static}}
	for _, mix := range []plan.Mix{plan.Light, plan.Medium, plan.Heavy} {
		all = append(all,
			Load{Key: string(mix) + "-api", Label: string(mix) + " by API", List: list, Mix: mix, Dynamic: "api/send"},
			Load{Key: string(mix) + "-cgi", Label: string(mix) + " by CGI", List: list, Mix: mix, Dynamic: "cgi-bin/send"})
	}
	return all
}

// units1996 are all points, and the 16 of a quick look: those that the
// conclusions are about, at 32 and 128 clients.
func units1996() (full, quick []Unit) {
	for _, clients := range clients1996() {
		full = append(full, points2([]string{"iis", "netsite"}, []string{"static"}, clients))
		for _, mix := range []string{"light", "medium", "heavy"} {
			full = append(full, points2([]string{"iis", "netsite"}, []string{mix + "-api", mix + "-cgi"}, clients))
		}
	}
	last := len(full) - 4 // static at 128 clients
	full[last] = append(full[last], Point{"iis-16", "static", 128}, Point{"netsite-16", "static", 128})
	quick = []Unit{
		{{"iis", "static", 32}, {"iis", "static", 128}, {"iis-16", "static", 128}},
		{{"netsite", "static", 128}, {"netsite-16", "static", 128}},
		{{"iis", "light-api", 128}, {"iis", "light-cgi", 128}},
		{{"iis", "medium-api", 128}, {"iis", "medium-cgi", 128}},
		{{"iis", "heavy-api", 128}, {"iis", "heavy-cgi", 128}, {"netsite", "heavy-api", 128}, {"netsite", "heavy-cgi", 128}},
		{{"iis", "heavy-api", 32}, {"netsite", "heavy-api", 32}},
	}
	return full, quick
}

// points2 are the points of some servers at some loads.
func points2(servers, loads []string, clients int) (u Unit) {
	for _, s := range servers {
		u = append(u, points(s, loads, clients)...)
	}
	return u
}

func figures1996() Figures {
	f := Figures{}
	for _, r := range table("webstone-1996-shiloh") {
		load := r["mix"]
		if r["mechanism"] != "html" {
			load += "-" + r["mechanism"]
		}
		if v, ok := r.Number("value"); ok {
			f.set(Point{r["server"], load, clientsOf(r, "clients")}, Metric(r["metric"]), v)
		}
	}
	return f
}

// tables1996 are tables 1A to 6B: the figure has the number, the server the
// letter.
func tables1996(loads []Load) []Table {
	var all []Table
	for i, t := range []struct {
		title  string
		metric Metric
		digits int
	}{
		{"Throughput, Mbit/s", Throughput, 2},
		{"Connections per second", Connections, 1},
		{"Response time, s", Response, 4},
		{"Errors per second", Errors, 3},
		{"Server CPU, %", CPU, 0},
		{"Network, %", Network, 0},
	} {
		var columns []Column
		for k := range loads {
			columns = append(columns, Column{loads[k].Label, loads[k].Key, t.metric, t.digits})
		}
		for k, server := range []string{"iis", "netsite"} {
			all = append(all, Table{Number: fmt.Sprintf("%d%c", i+1, 'A'+k), Title: t.title, Server: server, Columns: columns})
		}
	}
	return all
}

func charts1996() []Chart {
	var all []Chart
	for _, m := range []struct {
		metric Metric
		title  string
	}{{Connections, "Connections per second"}, {Response, "Response time"}} {
		for _, load := range []string{"static", "light-api", "light-cgi", "medium-api", "medium-cgi", "heavy-api", "heavy-cgi"} {
			all = append(all, Chart{Title: m.title + ", " + load, Metric: m.metric, Series: []Series{{"iis", load}, {"netsite", load}}})
		}
	}
	return all
}

func claims1996() []Claim {
	at := func(server, load string) Point { return Point{server, load, 128} }
	advantage := func(mix string) Quotient {
		return ratio(Capacity, at("iis", mix+"-api"), at("iis", mix+"-cgi"))
	}
	grows := func(more, less string) Quotient {
		return Quotient{Metric: Capacity, Num: []Point{at("iis", more+"-api"), at("iis", less+"-cgi")},
			Den: []Point{at("iis", more+"-cgi"), at("iis", less+"-api")}}
	}
	var quiet []Point
	for _, server := range []string{"iis", "netsite"} {
		for _, load := range []string{"static", "heavy-api"} {
			quiet = append(quiet, at(server, load))
		}
	}
	return []Claim{
		{"with heavy load IIS's API makes several times as many pages as CGI", advantage("heavy"), Range{Lo: 2}},
		{"with light load IIS's API is ahead of CGI", advantage("light"), Range{Lo: 1}},
		{"with medium load IIS's API is ahead of CGI", advantage("medium"), Range{Lo: 1}},
		{"the API's advantage is larger with medium load than with light", grows("medium", "light"), Range{Lo: 1}},
		{"the API's advantage is larger with heavy load than with medium", grows("heavy", "medium"), Range{Lo: 1}},
		{"NetSite's API is ahead of CGI with heavy load", ratio(Capacity, at("netsite", "heavy-api"), at("netsite", "heavy-cgi")), Range{Lo: 1}},
		{"with CGI alone the two servers are equal", ratio(Capacity, at("iis", "heavy-cgi"), at("netsite", "heavy-cgi")), Range{Lo: .8, Hi: 1.25}},
		{"IIS's rate of static pages does not fall from 32 to 128 clients", flat("iis", "static"), Range{Lo: .85, Hi: 1.15}},
		{"IIS's rate by API does not fall from 32 to 128 clients", flat("iis", "heavy-api"), Range{Lo: .85, Hi: 1.15}},
		{"NetSite's rate by API falls from 32 to 128 clients", flat("netsite", "heavy-api"), Range{Hi: .85}},
		{"there are no errors with static pages or the API", ErrorShare{quiet}, Range{Hi: .001}},
		{"three repeats of heavy load with 128 clients agree within a few percent (API)", Repeats{Connections, at("iis", "heavy-api"), 3}, Range{Hi: .05}},
		{"three repeats of heavy load with 128 clients agree within a few percent (CGI)", Repeats{Connections, at("iis", "heavy-cgi"), 3}, Range{Hi: .05}},
		{"a backlog of 150 instead of 16 makes a difference (the study raised it)", ablation("iis", "iis-16"), Range{Lo: 1}},
		{"32 to 64 processes instead of 16 to 32 make a difference (the study raised them)", ablation("netsite", "netsite-16"), Range{Lo: 1}},
	}
}

// flat is a server's rate with 128 clients over that with 32: both are in a
// quick look too.
func flat(server, load string) Quotient {
	return ratio(Connections, Point{server, load, 128}, Point{server, load, 32})
}

// ablation is the rate of static pages with 128 clients over that without what
// the study changed.
func ablation(with, without string) Quotient {
	return seen(Connections, Point{with, "static", 128}, Point{without, "static", 128})
}
