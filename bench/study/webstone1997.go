package study

import (
	"fmt"
	"strings"
	"time"
)

const (
	enterprise = "netscape-enterprise-2.0.1"
	domino     = "lotus-domino-1.5a"
)

// dominoBound is how many connections the bounded server takes at a time, and
// dominoQueue its backlog, which Linux lets one more wait in: together 20, from
// where Domino failed, and eight clients at once always find a place.
const (
	dominoBound = 12
	dominoQueue = 7
)

// impatience is how long a reply of the bounded server is waited for: less
// than the second after which a SYN that was not taken is sent again, and than
// a run of a quick look, so that each has its errors.
const impatience = 400 * time.Millisecond

// fails is the share of failed exchanges above which a server is said to fail.
// It is small since a client that finds no place fails twice or three times a
// second, while the others have thousands of replies.
const fails = .0003

// webstone1997 is the study in which Netscape's Enterprise Server met Lotus
// Domino, which served files and documents of its database, under WebStone 2.5.
func webstone1997() Study {
	s := Study{
		Name:     "webstone-1997",
		Title:    "WebStone 2.5, March 1997: Netscape Enterprise and Lotus Domino, from files and from a database",
		Cite:     "Mindcraft, March 1997",
		Question: "What do pages from a database cost, and what becomes of a server that is asked by more clients than it has places for?",
		Claimed: "documents from Domino's database come less than half as fast as files, Enterprise keeps its rate from 8 to 240 clients with next to no " +
			"errors, and Domino slows down and fails requests from 20 clients on",
		Held: "Silicon Surf as WebStone 2.5 asks for it, a file after the other by weight, one connection a request, HTTP/1.0, no think time, closed loop. " +
			"No access log; errors are logged, on stderr. The same server program and architecture on all sides: the bounded one differs in its bound alone. " +
			"The same bytes come from files in memory and from the database, there by URLs of 202 bytes, as the study's were; a cell with short URLs shows " +
			"whether their length matters.",
		NotRepeated: "The machines and networks of 1997, and Domino: its database was Notes, this one is SQLite in the server, with pages in memory. Why Domino failed " +
			"requests the study does not say; here it is a bound of 12 connections with eight more in the kernel's queue, and a client that gives up after " +
			"0.4 s, before the kernel has asked again. WebStone 2.5 counted 2^20 bits as a megabit, which the published throughputs are in.",
		Duration: 2 * time.Second, QuickDuration: 500 * time.Millisecond,
		Servers: []Server{
			{Key: enterprise, Published: "Netscape Enterprise 2.0.1", Variant: "thread-pool", Why: "one process with a pool of threads, unbounded but for its threads"},
			{Key: domino, Published: "Lotus Domino 1.5a", Variant: "thread-pool", Limited: true, Patience: impatience,
				Flags: []string{"--max-conns", fmt.Sprint(dominoBound), "--backlog", fmt.Sprint(dominoQueue)}, Why: "the same with a bound on its connections"},
		},
		Loads: []Load{
			{Key: "files", Label: "files", List: "silicon-surf-2.x", Place: InFiles},
			{Key: "database", Label: "database", List: "silicon-surf-2.x", Place: InDatabase},
			{Key: "database-short", Label: "database by short URLs", List: "silicon-surf-2.x", Place: InDatabaseByPath},
		},
		Published: figures1997(),
		Claims:    claims1997(),
	}
	s.Full, s.Quick = units1997()
	s.Tables, s.Charts = tables1997(), charts1997()
	s.Notes = []string{
		"A server that stops accepting at its bound refuses nobody: who comes too late waits in the kernel's queue, and when that is full for the next " +
			"SYN, a second later. So its errors are those of clients that don't wait so long, and with patient clients it would have none.",
		"Of its summary: " + facts1997() + ".",
	}
	return s
}

func lowClients() []int  { return []int{4, 8, 12, 16, 20, 24} }
func highClients() []int { return []int{30, 60, 90, 120, 150, 180, 210, 240} }

func units1997() (full, quick []Unit) {
	at := func(clients int) Unit {
		return Unit{{enterprise, "files", clients}, {domino, "files", clients}, {domino, "database", clients}}
	}
	for _, n := range lowClients() {
		u := at(n)
		if n == 8 {
			u = append(u, Point{domino, "database-short", n})
		}
		full = append(full, u)
	}
	for _, n := range highClients() {
		full = append(full, Unit{{enterprise, "files", n}})
	}
	eight := append(at(8), Point{domino, "database-short", 8})
	quick = []Unit{at(4), eight, at(16), at(24), {{enterprise, "files", 240}}}
	return full, quick
}

func figures1997() Figures {
	f := Figures{}
	for _, r := range table("webstone-1997-mindcraft-ladder") {
		p := Point{r["server"], r["source"], clientsOf(r, "clients")}
		for _, m := range []Metric{Connections, Throughput, Latency, Errors} {
			if v, ok := r.Number(string(m)); ok {
				f.set(p, m, v)
			}
		}
	}
	return f
}

// facts1997 are those of the study's summary, in a line.
func facts1997() string {
	var all []string
	for _, r := range table("webstone-1997-mindcraft") {
		text := fmt.Sprintf("%s (%s) %s %s", r["fact"], r["server"], r["value"], r["unit"])
		if r["note"] != "" {
			text += ", " + r["note"]
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// tables1997 have the study's columns, a table for each server and source.
func tables1997() []Table {
	var all []Table
	for i, of := range []Series{{enterprise, "files"}, {domino, "files"}, {domino, "database"}} {
		all = append(all, Table{
			Number: fmt.Sprint(i + 1), Title: "From " + of.Load, Server: of.Server,
			Columns: []Column{
				{"connections/s", of.Load, Connections, 0}, {"Mbit/s", of.Load, Throughput, 1},
				{"latency, s", of.Load, Latency, 3}, {"errors/s", of.Load, Errors, 3},
			},
		})
	}
	return all
}

func charts1997() []Chart {
	all := []Series{{enterprise, "files"}, {domino, "files"}, {domino, "database"}}
	return []Chart{
		{"Connections per second", Connections, all}, {"Throughput", Throughput, all}, {"Latency", Latency, all},
	}
}

func claims1997() []Claim {
	files := func(n int) Point { return Point{domino, "files", n} }
	database := func(n int) Point { return Point{domino, "database", n} }
	healthy := func(n int) Point { return Point{enterprise, "files", n} }
	return []Claim{
		{"files come faster than documents of the database (8 clients)", ratio(Capacity, files(8), database(8)), Range{Lo: 1}},
		{"files come faster than documents of the database (16 clients)", ratio(Capacity, files(16), database(16)), Range{Lo: 1}},
		{"the database costs about 2.1 to 2.5 times as much (8 clients)", ratio(Capacity, files(8), database(8)), Range{Lo: 1.9, Hi: 2.8}},
		{"the length of the URLs is not the reason (ours)", ratio(Capacity, Point{domino, "database-short", 8}, database(8)), Range{Lo: .8, Hi: 1.25}},
		{"Enterprise's rate is flat from 8 to 240 clients", Evenness{Connections, []Point{healthy(8), healthy(16), healthy(24), healthy(240)}}, Range{Lo: .85}},
		{"Enterprise's latency grows with the number of clients, about ten times from 24 to 240", ratio(Latency, healthy(240), healthy(24)), Range{Lo: 7, Hi: 14}},
		{"Enterprise has next to no errors", ErrorShare{[]Point{healthy(24), healthy(240)}}, Range{Hi: fails}},
		{"Domino answers less with 24 clients than with 16", seen(Connections, files(24), files(16)), Range{Hi: 1}},
		{"Domino fails requests with 24 clients", ErrorShare{[]Point{files(24), database(24)}}, Range{Lo: fails}},
		{"Domino fails none with 4 and 8 clients", ErrorShare{[]Point{files(4), files(8), database(4), database(8)}}, Range{Hi: fails}},
	}
}
