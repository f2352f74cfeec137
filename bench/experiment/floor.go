package experiment

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/subject"
)

// floor weighs every server against a C program that answers without looking.
func floor() Experiment {
	return Experiment{
		Name:     "floor",
		Question: "How much CPU does a request cost above what the system calls alone cost?",
		Held: "A file of 100 bytes; 64 kept connections, each asking again as soon as it has its answer; the server on one core, the " +
			"client on another; at least eleven rounds in which all servers run right after each other. The real servers have one " +
			"event loop, no access log, sendfile and, where they have one, a cache of open files. In the second part the heads of " +
			"wrk, curl and a browser alternate over 1,000 paths of 100 bytes each, so that no server lives on having seen the same bytes before, but accel, which keeps replies by request. The third part has 512 connections.",
		NotRepeated: "Nothing published stands beside these figures: the floor does.",
		peers:       true,
		design:      designFloor,
	}
}

// floorRuns is the least number of rounds: targets are judged by this table.
const floorRuns = 11

func designFloor(l *lab) (*design, error) {
	runs, duration := l.scaled(floorRuns, floorRuns, 1500*time.Millisecond, 600*time.Millisecond)
	d := &design{runs: runs}
	same, err := l.floorSubjects(d, l.Fixtures, hundred)
	if err != nil {
		return nil, err
	}
	var cells []*cell
	for _, s := range same {
		cells = append(cells, &cell{
			name: s.Name(), subject: s, handler: "100.html", claims: claimCPU, plan: l.single(hundred),
			load:   setting{clients: 64, keepalive: true, warmup: duration / 5, duration: duration},
			proofs: []proof{{hundred, "100.html"}},
		})
	}
	d.addTable("one path", cells)
	saturated := make([]int, len(d.compare))
	for i := range saturated {
		saturated[i] = i
	}
	d.sameRate(cells, saturated...)

	list, err := l.manyPaths()
	if err != nil {
		return nil, err
	}
	mixed, err := l.floorSubjects(&design{}, l.temp, hundred, "--root", l.temp)
	if err != nil {
		return nil, err
	}
	cells = nil
	for _, s := range mixed {
		c := &cell{
			name: s.Name() + ", mixed heads and paths", subject: s, handler: "1000 paths", claims: claimCPU, plan: l.mixedPlan(list, s),
			load: setting{clients: 64, keepalive: true, heads: mixedHeads(), planName: "1000 paths of 100 bytes", warmup: duration / 5, duration: duration},
		}
		if !isFloor(s) {
			c.proofs = []proof{{"/p/000.html", "path 0"}, {"/p/999.html", "path 999"}}
		}
		cells = append(cells, c)
	}
	d.addTable("mixed heads and paths", cells)
	d.addTable("512 connections", l.manyConnections(same, duration))
	return d, nil
}

// manyConnections are the cells of the floor and the loops whose promise it is
// to bear more than 64 connections.
func (l *lab) manyConnections(subjects []subject.Subject, duration time.Duration) (cells []*cell) {
	for _, s := range subjects {
		switch s.Name() {
		case "floor", "uring", "epoll", "nginx":
			cells = append(cells, &cell{
				name: s.Name() + ", 512 connections", subject: s, handler: "100.html", claims: claimCPU, plan: l.single(hundred),
				load:   setting{clients: 512, keepalive: true, warmup: duration / 5, duration: duration},
				proofs: []proof{{hundred, "100.html"}},
			})
		}
	}
	return cells
}

// floors are the programs in C that answer without looking: the event loop, and
// one for each architecture that is measured against its own.
var floors = []string{"floor", "threads", "prefork"}

// isFloor says whether a subject is one of them: it answers every path with the
// same file.
func isFloor(s subject.Subject) bool {
	return slices.ContainsFunc(floors, func(name string) bool { return s.Name() == subject.FloorName(name) })
}

// floorSubjects makes the floors, our servers, and the real ones that are
// installed, all serving root; what is not there is remarked in d.
func (l *lab) floorSubjects(d *design, root, file string, flags ...string) ([]subject.Subject, error) {
	var recipes []subject.Recipe
	for _, name := range floors {
		program, err := l.floorProgram(name)
		if err != nil {
			return nil, err
		}
		recipes = append(recipes, subject.Floor(program, filepath.Join(root, file), false))
	}
	for _, name := range l.variants("accel", "percore", "reactors", "uring", "epoll", "amped", "staged", "poll", "select", "threads", "thread-pool", "acceptor-queue", "event-mpm", "prefork", "goroutine", "fasthttp", "fiber", "nethttp") {
		if reason := l.Refused[name]; reason != "" {
			d.remarks = append(d.remarks, reason)
			continue
		}
		all := slices.Concat([]string{"--fixtures", l.Fixtures}, flags)
		if name == "prefork" { // as many processes as its floor has, from the start
			all = append(all, "--workers", "64", "--min-workers", "64", "--min-spare", "1")
		}
		if name == "amped" { // or it would be epoll: the file in the program's memory, not the kernel's
			all = append(all, "--file-cache", "descriptor")
		}
		recipes = append(recipes, subject.Weighstone(l.Binary, name, all...))
	}
	peers, remarks, err := found(subject.Setup{Root: root}, l.peers("nginx", "lighttpd", "h2o", "apache-event")...)
	if err != nil {
		return nil, err
	}
	d.remarks = append(d.remarks, remarks...)
	recipes = append(recipes, peers...)
	all, err := l.locals(recipes)
	if err != nil {
		return nil, err
	}
	remotes, err := l.remotes()
	return append(all, remotes...), err
}

// locals are the subjects that are started here.
func (l *lab) locals(recipes []subject.Recipe) ([]subject.Subject, error) {
	var all []subject.Subject
	for _, r := range recipes {
		s, err := l.local(r)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// addTable adds a unit in which every cell is compared with the first, the
// floor, some with a floor of their own, and some with those that they are to
// undercut.
func (d *design) addTable(part string, cells []*cell) {
	d.units = append(d.units, cells)
	by := map[string]*cell{}
	for _, c := range cells {
		by[c.subject.Name()] = c
		if c != cells[0] {
			d.compare = append(d.compare, comparison{name: fmt.Sprintf("%s to the floor, %s", c.subject.Name(), part), a: c, b: cells[0], metric: claimCPU})
		}
	}
	for _, pair := range [][2]string{
		{"epoll", "nginx"}, {"percore", "nginx"}, {"uring", "epoll"},
		{"accel", "epoll"}, {"accel", "nginx"}, {"accel", "lighttpd"}, {"accel", "h2o"}, {"accel", "apache-event"},
		{"event-mpm", "apache-event"},
		{"threads", subject.FloorName("threads")}, {"thread-pool", subject.FloorName("threads")},
		{"prefork", subject.FloorName("prefork")},
	} {
		if a, b := by[pair[0]], by[pair[1]]; a != nil && b != nil {
			d.compare = append(d.compare, comparison{name: fmt.Sprintf("%s to %s, %s", pair[0], pair[1], part), a: a, b: b, metric: claimCPU})
		}
	}
}

// pathCount is how many files [lab.manyPaths] makes.
const pathCount = 1000

// manyPaths makes a document root of 1,000 different files of 100 bytes below
// /p/, with 100.html beside, and a list of them.
func (l *lab) manyPaths() (*plan.List, error) {
	if err := os.MkdirAll(filepath.Join(l.temp, "p"), 0o755); err != nil {
		return nil, fmt.Errorf("make the paths: %w", err)
	}
	body, err := os.ReadFile(filepath.Join(l.Fixtures, hundred))
	if err == nil {
		err = os.WriteFile(filepath.Join(l.temp, hundred), body, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("make the paths: %w", err)
	}
	var lines strings.Builder
	for i := range pathCount {
		path := fmt.Sprintf("/p/%03d.html", i)
		if err := os.WriteFile(filepath.Join(l.temp, path), pathBody(i), 0o644); err != nil {
			return nil, fmt.Errorf("make the paths: %w", err)
		}
		fmt.Fprintf(&lines, "%s 1 #100\n", path)
	}
	return plan.Parse("1000 paths", strings.NewReader(lines.String()))
}

// pathBody is the content of the i-th path: 100 bytes, no two alike.
func pathBody(i int) []byte {
	return fmt.Appendf(nil, "<!DOCTYPE html><title>%03d</title><p>%-63s\n", i, fmt.Sprintf("This is page %d of a thousand.", i))
}

// mixedPlan asks for the paths; the contents are checked but for the floor,
// which has only one.
func (l *lab) mixedPlan(list *plan.List, s subject.Subject) func(base string) (*plan.Plan, error) {
	o := plan.Options{Seed: l.Seed}
	if !isFloor(s) {
		o.Files = func(path string) (size int64, sum [sha256.Size]byte, ok bool) {
			var i int
			if _, err := fmt.Sscanf(path, "/p/%03d.html", &i); err != nil || i >= pathCount {
				return 0, sum, false
			}
			return 100, sha256.Sum256(pathBody(i)), true
		}
	}
	return func(base string) (*plan.Plan, error) { return plan.New(list, base, o) }
}
