package experiment

import (
	"context"
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench/published"
	"github.com/weighstone/weighstone/bench/subject"
)

// mechanisms sets all ways in which a server makes the same page beside each
// other.
func mechanisms() Experiment {
	return Experiment{
		Name:     "mechanisms",
		Question: "What does the same page cost by each way in which a server can run code?",
		Held: "The same 77 bytes, from the same server program, by each mechanism that it has here; eight kept connections, and programs " +
			"on the server's core, their CPU time counted as the server's. Documents from the database are compared with the same file. " +
			"Beside each row stand how long the mechanism's first request took, on a server just started, and by how much the server and " +
			"its children then grew, for each process that came.",
		NotRepeated: "The servers, machines and interpreters of 1996 and 2005. The published ratios are of whole mixes of pages in 1996; the " +
			"study of 2005 compared servers, so that nothing of it stands beside a mechanism. Interpreters within the process are Lua and " +
			"WebAssembly here and not Perl and PHP.",
		design: designMechanisms,
	}
}

// A mechanism is one way to come by a page.
type mechanism struct{ name, path string }

// allMechanisms are those that a weighstone can have, the fastest first.
func allMechanisms() []mechanism {
	return []mechanism{
		{"api", "/api/hello"},
		{"lua", "/lua/hello"},
		{"wasm", "/wasm/hello"},
		{"fastcgi", "/fcgi-bin/hello"},
		{"scgi", "/scgi-bin/hello"},
		{"perl kept", "/perl/hello.pl"},
		{"cgi helper", "/cgi-helper/hello"},
		{"cgi", "/cgi-bin/hello"},
		{"cgi sh", "/cgi-bin/hello.sh"},
		{"cgi perl", "/cgi-bin/hello.pl"},
	}
}

// mechanismClients are enough to keep the server busy where each request
// costs a process.
const mechanismClients = 8

func designMechanisms(l *lab) (*design, error) {
	runs, duration := l.scaled(10, 6, 2*time.Second, 500*time.Millisecond)
	d := &design{runs: runs}
	subjects, err := l.ours("epoll")
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		if err := l.addMechanisms(d, s, duration); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// addMechanisms adds the mechanisms that one server has: the ladder, and
// documents from files and the database.
func (l *lab) addMechanisms(d *design, s subject.Subject, duration time.Duration) error {
	there, missing, err := l.which(s, allMechanisms())
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		d.remarks = append(d.remarks, fmt.Sprintf("%s was asked without %s: it did not answer there", s.Name(), list(missing)))
	}
	var unit []*cell
	var base, api *cell
	for _, m := range there {
		c := l.cell(s, m.path, "hello", true, mechanismClients, duration)
		c.name, c.first = s.Name()+" "+m.name, true
		unit = append(unit, c)
		switch m.name {
		case "cgi":
			base = c
		case "api":
			api = c
		}
	}
	for _, c := range unit {
		if base == nil || c == base {
			continue
		}
		rate := comparison{name: c.name + " to cgi", a: c, b: base, metric: claimRate}
		cpu := comparison{name: "cgi to " + c.name, a: base, b: c, metric: claimCPU}
		if c != api {
			d.compare = append(d.compare, rate, cpu)
			continue
		}
		for _, server := range []string{"iis", "netsite"} {
			if p, ok := published.APIOverCGI(server, "heavy"); ok {
				beside := rate
				beside.published, beside.source = p.Value, p.Source
				beside.name += map[string]string{"iis": ", beside IIS", "netsite": ", beside NetSite"}[server]
				d.compare = append(d.compare, beside)
			}
		}
		d.compare = append(d.compare, cpu)
	}
	file := l.cell(s, hundred, "100.html", true, mechanismClients, duration)
	document := l.cell(s, "/db"+hundred, "100.html", true, mechanismClients, duration)
	if ok, err := l.answers(s, "/db"+hundred); err != nil || !ok {
		d.units = append(d.units, unit)
		return err
	}
	d.units = append(d.units, unit, []*cell{file, document})
	d.compare = append(d.compare, comparison{name: s.Name() + " 100 bytes, database to file", a: document, b: file, metric: claimCPU})
	return nil
}

// which asks a server which mechanisms it has.
func (l *lab) which(s subject.Subject, all []mechanism) (there []mechanism, missing []string, err error) {
	for _, m := range all {
		ok, err := l.answers(s, m.path)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			there = append(there, m)
		} else {
			missing = append(missing, m.name)
		}
	}
	if len(there) == 0 {
		return nil, nil, fmt.Errorf("%s has none of the mechanisms", s.Name())
	}
	return there, missing, nil
}

// answers says whether a server answers a path with status 200, starting it
// if need be.
func (l *lab) answers(s subject.Subject, path string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.patience)
	defer cancel()
	base, err := l.up(ctx, s)
	if err != nil {
		return false, err
	}
	_, err = subject.Fetch(ctx, base, path)
	return err == nil, nil
}

// list joins names as a sentence does.
func list(names []string) string {
	text := names[0]
	for i, n := range names[1:] {
		if i == len(names)-2 {
			text += " and " + n
		} else {
			text += ", " + n
		}
	}
	return text
}
