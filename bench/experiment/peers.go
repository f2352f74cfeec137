package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/subject"
)

// peers weighs our servers against the real ones of the machine.
func peers() Experiment {
	return Experiment{
		Name:     "peers",
		Question: "How much CPU does a request cost in our servers, and how much in the real ones that are installed here?",
		Held: "The same files and programs, one worker on one core, no access log, keep-alive without limits; 64 clients for 100 bytes and " +
			"for Silicon Surf, eight for the programs, on the other core. Before anything is timed each server shows that it sends the " +
			"status, bytes and framing that ours does. CPU is compared with each saturated (where it can't be known, the rates), and at the same offered rate: half of what the " +
			"slowest can do, one rate for the fast servers and one for the slow. What could not be made equal stands below, by server.",
		NotRepeated: "Nothing published stands beside these figures; the studies' own comparisons are experiments of their own.",
		peers:       true,
		design:      designPeers,
	}
}

// A duty is one thing that all servers are asked to do.
type duty struct {
	name      string
	ours      []string // the first is compared with each real server
	setup     subject.Setup
	program   bool
	keepalive bool
	clients   int
	cell      func(l *lab, s subject.Subject, d *duty, duration time.Duration) (*cell, error)
}

// duties are the rows of the table.
func (l *lab) duties() []duty {
	files := subject.Setup{Root: l.Fixtures}
	programs := files
	programs.CGI = l.CGIDir
	apps := files
	apps.Apps = []subject.App{{Name: "constant", URL: "/fcgi-bin/constant", Path: filepath.Join(filepath.Dir(l.CGIDir), "fcgi", "constant")}}
	return []duty{
		{"100 bytes, keep-alive", []string{"accel", "uring", "epoll"}, files, false, true, 64, asks(hundred, "100.html")},
		{"100 bytes, one connection a request", []string{"accel", "uring", "epoll"}, files, false, false, 64, asks(hundred, "100.html")},
		{"silicon-surf, keep-alive", []string{"epoll", "percore"}, files, false, true, 64, surfs},
		{"CGI hello, one connection a request", []string{"epoll"}, programs, true, false, 8, asks("/cgi-bin/hello", "hello")},
		{"FastCGI constant, keep-alive", []string{"epoll"}, apps, true, true, 8, asks("/fcgi-bin/constant", "constant")},
	}
}

func asks(path, content string) func(*lab, subject.Subject, *duty, time.Duration) (*cell, error) {
	return func(l *lab, s subject.Subject, d *duty, duration time.Duration) (*cell, error) {
		return l.cell(s, path, content, d.keepalive, d.clients, duration), nil
	}
}

func surfs(l *lab, s subject.Subject, d *duty, duration time.Duration) (*cell, error) {
	list, err := plan.Open(filepath.Join(l.Fixtures, "filelists", "silicon-surf-1.x.txt"))
	if err != nil {
		return nil, err
	}
	c := surfCell(l, s, list, plan.Static, "api/send", duration)
	c.handler = "silicon-surf"
	c.load.clients, c.load.keepalive, c.load.http10 = d.clients, d.keepalive, false
	return c, nil
}

// slowPeers are those that are offered a rate of their own: at half of what an
// interpreter can do the fast ones would only wait.
func slowPeers() []string { return []string{"yaws", "webrick", "mini-httpd", "webfs", "caddy"} }

func designPeers(l *lab) (*design, error) {
	runs, duration := l.scaled(floorRuns, 6, 1500*time.Millisecond, 400*time.Millisecond)
	d := &design{runs: runs}
	for _, what := range l.duties() {
		if err := l.addDuty(d, &what, duration); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// addDuty adds a row: all servers that can do it, the first of ours compared
// with each real one.
func (l *lab) addDuty(d *design, what *duty, duration time.Duration) error {
	ours, err := l.runnable(d, l.variants(what.ours...)...)
	if err != nil {
		return err
	}
	theirs, err := l.dutyTheirs(d, what)
	if err != nil {
		return err
	}
	var cells []*cell
	for _, s := range append(ours, theirs...) {
		c, err := what.cell(l, s, what, duration)
		if err != nil {
			return err
		}
		c.name, c.claims = s.Name()+", "+what.name, claimRate
		cells = append(cells, c)
	}
	d.units = append(d.units, cells)
	if len(ours) == 0 {
		return nil
	}
	fast, slow := slices.Clone(cells[:len(ours)]), []*cell{cells[0]}
	var fastPairs, slowPairs []int
	for _, c := range cells[len(ours):] {
		pair := comparison{name: fmt.Sprintf("%s to %s, %s", ours[0].Name(), c.subject.Name(), what.name), a: cells[0], b: c, metric: claimCPU}
		if local, here := c.subject.(*subject.Local); !here || !local.Counted() {
			pair.metric = claimRate
			d.compare = append(d.compare, pair)
			continue
		}
		d.compare = append(d.compare, pair)
		if slices.Contains(slowPeers(), c.subject.Name()) {
			slow, slowPairs = append(slow, c), append(slowPairs, len(d.compare)-1)
		} else {
			fast, fastPairs = append(fast, c), append(fastPairs, len(d.compare)-1)
		}
	}
	if l.Tiny {
		return nil
	}
	d.atRate("same rate", fast, fastPairs...)
	d.atRate("same low rate", slow, slowPairs...)
	return nil
}

// dutyTheirs makes the subjects of the real servers that can do it, and remarks
// which can't.
func (l *lab) dutyTheirs(d *design, what *duty) (all []subject.Subject, err error) {
	var names []string
	for _, p := range subject.Peers() {
		names = append(names, p.Name)
	}
	for _, name := range l.peers(names...) {
		peer, err := subject.FindPeer(name)
		if err != nil {
			return nil, err
		}
		if what.keepalive && !peer.Keeps.Connection(what.program) {
			d.remark(fmt.Sprintf("%s was left out of %q: it closes the connection after such a reply", name, what.name))
			continue
		}
		if name == "webrick" && what.setup.CGI != "" {
			d.remark(fmt.Sprintf("%s was left out of %q: it starts a Ruby interpreter for each program, and a run would have too few replies", name, what.name))
			continue
		}
		recipes, remarks, err := found(what.setup, name)
		if err != nil {
			return nil, err
		}
		for _, r := range remarks {
			d.remark(r)
		}
		here, err := l.locals(recipes)
		if err != nil {
			return nil, err
		}
		all = append(all, here...)
	}
	remotes, err := l.remotes()
	return append(all, remotes...), err
}
