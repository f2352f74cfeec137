package experiment

import (
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// cgiHelper asks what a helper that starts programs saves a server that has
// grown.
func cgiHelper() Experiment {
	return Experiment{
		Name:     "cgi-helper",
		Question: "What does it cost to have CGI programs started by a small helper process, in a small server and in one that holds 1 GiB?",
		Held: "The same C program, which prints a fixed page, started by the server itself and by its helper, eight kept connections, server, " +
			"helper and programs on one core; once in a server as it starts, once in one that holds 1 GiB of touched memory in pages of 4 KiB.",
		NotRepeated: "Flash and Apache forked: what a large process cost them was copying its page tables. The servers here start programs by " +
			"vfork, which copies none, so that only what else is large can show.",
		design: designCGIHelper,
	}
}

// ballast is what the large server holds.
const ballast = "1GiB"

func designCGIHelper(l *lab) (*design, error) {
	runs, duration := l.scaled(11, 6, 2*time.Second, time.Second)
	d := &design{runs: runs}
	var itself, helped [2]*cell // in a small server, and in a large one
	for _, name := range l.variants("epoll") {
		for i, large := range []bool{false, true} {
			s, err := l.holding(name, large)
			if err != nil {
				return nil, err
			}
			itself[i] = l.cell(s, "/cgi-bin/hello", "hello", true, mechanismClients, duration)
			helped[i] = l.cell(s, "/cgi-helper/hello", "hello", true, mechanismClients, duration)
			for _, m := range []metric{claimRate, claimCPU} {
				d.compare = append(d.compare, comparison{name: s.Name() + ", by the helper to by itself", a: helped[i], b: itself[i], metric: m})
			}
		}
		d.units = append(d.units, []*cell{itself[0], helped[0], itself[1], helped[1]})
		for _, by := range []struct {
			how   string
			cells [2]*cell
		}{{"by itself", itself}, {"by the helper", helped}} {
			d.compare = append(d.compare, comparison{name: name + " " + by.how + ", large to small", a: by.cells[1], b: by.cells[0], metric: claimCPU})
		}
	}
	return d, nil
}

// holding makes a subject of one of our servers, one with a ballast if it is
// to be large.
func (l *lab) holding(variant string, large bool) (subject.Subject, error) {
	r := subject.Weighstone(l.Binary, variant, "--fixtures", l.Fixtures)
	if large {
		r = subject.Weighstone(l.Binary, variant, "--fixtures", l.Fixtures, "--ballast", ballast)
		r.Name += " with " + ballast
	}
	return l.local(r)
}
