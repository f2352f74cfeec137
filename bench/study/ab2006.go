package study

import (
	"fmt"
	"strings"
	"time"
)

const (
	apache   = "apache-2.0.55"
	lighttpd = "lighttpd-1.4.11"
	yaws     = "yaws-1.57"
	webrick  = "webrick-1.3.1"
	// resent is a server that is stopped when its clients come.
	resent = "resent"
)

// stopped is how long that one is, from before its clients come.
const stopped = 300 * time.Millisecond

// abClients is the concurrency of the study.
const abClients = 10

// ab2006 is the comparison of four servers by ApacheBench, with so few requests
// that they measure nothing.
func ab2006() Study {
	s := Study{
		Name:     "ab-2006",
		Title:    "ApacheBench, 2006: Apache, lighttpd, Yaws and WEBrick with one small page",
		Cite:     "a comparison of Apache, lighttpd, Yaws and WEBrick with ab 2.0.55, 2006",
		Question: "Do 200 or 2,000 requests tell an event loop, a pool of processes, lightweight processes and an interpreter apart?",
		Claimed:  "with one page of 4,782 bytes an event loop (lighttpd) is ahead of a pool of processes (Apache), that of lightweight processes (Yaws), and all are far ahead of an interpreter (WEBrick)",
		Held: "The 4,782-byte page, 200 and 2,000 requests, concurrency 10, one connection a request, HTTP/1.0, no warm-up, as ab does it. Every server is started " +
			"afresh before each round. What ab would report stands below, in its own form by our generator, and by ab itself where it is installed.",
		NotRepeated: "The servers' versions, machine and network of 2006. An interpreter that serves files is not among our servers: WEBrick itself is started " +
			"where it is installed, and today's Apache, lighttpd and Yaws beside ours. What a server can do is judged by replies a second of its processor, rates as ab has them stand in the tables.",
		Repetitions: 10,
		Servers: []Server{
			{Key: lighttpd, Published: "lighttpd 1.4.11", Variant: "epoll", Why: "one process with an event loop"},
			{Key: apache, Published: "Apache 2.0.55", Variant: "prefork", Why: "a pool of processes, one connection each"},
			{Key: yaws, Published: "Yaws 1.57", Variant: "goroutine", Why: "a lightweight process, here a goroutine, for each connection"},
			{Key: webrick, Peer: "webrick", Why: "an interpreter, with a thread for each connection: none of ours is one, so that it stands for itself"},
			{Key: "lighttpd", Peer: "lighttpd", Why: "today's"},
			{Key: "apache", Peer: "apache-prefork", Why: "today's"},
			{Key: "yaws", Peer: "yaws", Why: "today's"},
			{Key: resent, Called: "threads, stopped for 0.3 s", Variant: "threads", Flags: []string{"--backlog", "1"}, Pause: stopped,
				Why: "two connections wait, and nobody accepts for 0.3 s: the others' SYNs are dropped and sent again"},
		},
		Loads: []Load{
			{Key: "200", Label: "200 requests", Path: "/", Requests: 200},
			{Key: "2000", Label: "2,000 requests", Path: "/", Requests: 2000},
		},
		Published: figures2006(),
		Claims:    claims2006(),
	}
	for _, load := range []string{"200", "2000"} {
		s.Full = append(s.Full, points2([]string{lighttpd, apache, yaws, webrick, "lighttpd", "apache", "yaws"}, []string{load}, abClients))
	}
	s.Full = append(s.Full, Unit{{resent, "200", abClients}})
	s.Quick = s.Full
	s.Tables = tables2006()
	s.Notes = []string{
		"Why 200 requests measure nothing: they are over in a few hundredths of a second, in which a server has just begun to run. Three such runs differ by far " +
			"more than the servers do; the conclusions give by how much, and the tables the interval of each figure. The study made one run of each, and its own " +
			"rates at 2,000 requests are up to two thirds higher than at 200.",
		"WEBrick's connects took up to 2,999 ms (the study's text; its longest request took 3,059 ms). It is no time of a server: when the queue of a listening socket is full, " +
			"Linux drops the SYN of the next client without a word, and that client's kernel sends it again, in 2006 after 3 s, today after 1 s, and if that fails too after 2 s more " +
			"(RFC 6298 made the initial wait one second in 2011). A single thread that stops to interpret, or to collect garbage, does not accept meanwhile. Here threads with a queue for " +
			"two connections is stopped for 0.3 s while ten clients come: the longest connect is about 1,000 ms or 3,000 ms, and never in between.",
		"ab 2.0.55 printed microseconds without their leading zeros (\"0.53806 seconds\" was 0.053806 s); the table has the true times, which with the rates give the number of requests.",
	}
	return s
}

// percentiles2006 are those of the study's table.
func percentiles2006() []int { return []int{50, 66, 75, 80, 90, 95, 98, 99, 100} }

func metrics2006() []Metric {
	all := []Metric{Requests, Taken, PerRequest, Across, TransferRate, Transferred, HTML}
	for _, p := range percentiles2006() {
		all = append(all, Metric(fmt.Sprintf("p%d_ms", p)))
	}
	return all
}

func figures2006() Figures {
	f := Figures{}
	for _, r := range table("ab-2006") {
		p := Point{r["server"], r["requests"], clientsOf(r, "concurrency")}
		for _, m := range metrics2006() {
			if v, ok := r.Number(string(m)); ok {
				f.set(p, m, v)
			}
		}
	}
	// The study's text has it of WEBrick; its table does not.
	f.set(Point{resent, "200", abClients}, ConnectMax, 2999)
	return f
}

func tables2006() []Table {
	digits := map[Metric]int{Requests: 2, Taken: 6, PerRequest: 3, Across: 3, TransferRate: 2}
	var all []Table
	for i, load := range []string{"200", "2000"} {
		figures := Table{Number: fmt.Sprintf("%dA", i+1), Title: load + " requests", Servers: []string{lighttpd, apache, yaws, webrick, "lighttpd", "apache", "yaws"}, Clients: abClients}
		percentiles := figures
		percentiles.Number = fmt.Sprintf("%dB", i+1)
		percentiles.Title += ", percentage served within a time, ms"
		for _, m := range metrics2006() {
			name, unit := m.Words()
			c := Column{Label: name + ", " + unit, Load: load, Metric: m, Digits: digits[m]}
			if _, isWord := words()[m]; !isWord || m == Longest {
				c.Label, c.Digits = strings.TrimSuffix(strings.TrimPrefix(string(m), "p"), "_ms")+" %", 2
				if m == Longest {
					c.Label = "100 % (the longest)"
				}
				percentiles.Columns = append(percentiles.Columns, c)
			} else {
				figures.Columns = append(figures.Columns, c)
			}
		}
		all = append(all, figures, percentiles)
	}
	return append(all, Table{Number: "3", Title: "longest connect", Servers: []string{resent}, Clients: abClients,
		Columns: []Column{{"longest connect, ms", "200", ConnectMax, 0}}})
}

func claims2006() []Claim {
	at := func(server, load string) Point { return Point{server, load, abClients} }
	return []Claim{
		{"an event loop is ahead of a pool of processes", ratio(Capacity, at(lighttpd, "2000"), at(apache, "2000")), Range{Lo: 1}},
		{"a pool of processes is ahead of lightweight processes", ratio(Capacity, at(apache, "2000"), at(yaws, "2000")), Range{Lo: 1}},
		{"an event loop is ahead of lightweight processes", ratio(Capacity, at(lighttpd, "2000"), at(yaws, "2000")), Range{Lo: 1}},
		{"lightweight processes are ahead of an interpreter", ratio(Capacity, at(yaws, "2000"), at(webrick, "2000")), Range{Lo: 1}},
		{"today's lighttpd is ahead of today's Apache (ours)", ratio(Capacity, at("lighttpd", "2000"), at("apache", "2000")), Range{Lo: 1}},
		{"200 requests show the same order", Order{Requests, []Point{at(lighttpd, "200"), at(apache, "200"), at(yaws, "200")}}, Range{Lo: 1}},
		{"200 requests give another rate than 2,000 (ours: so they measure the start)", seen(Requests, at(apache, "200"), at(apache, "2000")), Range{Hi: .95}},
		{"three runs of 200 requests agree within 5 % (the study relied on one)", Repeats{Requests, at(apache, "200"), 3}, Range{Hi: .05}},
		{"three runs of 2,000 requests agree within 5 %", Repeats{Requests, at(apache, "2000"), 3}, Range{Hi: .05}},
		{"WEBrick's longest connect is a SYN that was sent again: about 1 s, or 3 s", Level{ConnectMax, at(resent, "200")}, Range{Lo: 990, Hi: 3500}},
	}
}
