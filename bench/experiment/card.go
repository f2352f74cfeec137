package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/subject"
)

// card runs one server through the standard loads, the floors beside.
func card() Experiment {
	return Experiment{
		Name:     "card",
		Question: "What does this server do under the standard loads?",
		Held: "The file of 100 bytes on kept connections and one connection a request, the Silicon Surf list with a connection a request, a " +
			"page made in the server, a page made by a CGI program; 64 connections, 16 for Silicon Surf, eight for CGI; the server on " +
			"one core, the client on another; beside each the program that does the same without thinking, run in turn. The file of " +
			"100 bytes is also offered at the same rate to both, half of what the slower one can do.",
		NotRepeated: "Nothing published stands beside these figures.",
		design:      designCard,
	}
}

func designCard(l *lab) (*design, error) {
	runs, duration := l.scaled(10, 6, 2*time.Second, time.Second)
	d := &design{runs: runs}
	subjects, err := l.ours("epoll")
	if err != nil {
		return nil, err
	}
	for _, keepalive := range []bool{true, false} {
		if err := l.addFiles(d, subjects, keepalive, duration); err != nil {
			return nil, err
		}
	}
	return d, l.addPrograms(d, subjects, duration)
}

// addFiles adds what is answered from memory, the floor beside.
func (l *lab) addFiles(d *design, subjects []subject.Subject, keepalive bool, duration time.Duration) error {
	program, err := l.floorProgram("floor")
	if err != nil {
		return err
	}
	f, err := l.local(subject.Floor(program, filepath.Join(l.Fixtures, hundred), !keepalive))
	if err != nil {
		return err
	}
	list, err := plan.Open(filepath.Join(l.Fixtures, "filelists", "silicon-surf-1.x.txt"))
	if err != nil {
		return err
	}
	floor := l.cell(f, hundred, "100.html", keepalive, 64, duration)
	same := []*cell{floor}
	cells := []*cell{floor}
	for _, s := range subjects {
		same = append(same, l.cell(s, hundred, "100.html", keepalive, 64, duration))
	}
	cells = append(cells, same[1:]...)
	for _, s := range subjects {
		if keepalive {
			cells = append(cells, l.cell(s, "/api/hello", "hello", true, 64, duration))
			continue
		}
		c := surfCell(l, s, list, plan.Static, "api/send", duration)
		c.name, c.handler = s.Name()+" silicon-surf", "silicon-surf"
		cells = append(cells, c)
	}
	d.units = append(d.units, cells)
	var saturated []int
	for _, c := range cells[1:] {
		if slices.Contains(same, c) {
			saturated = append(saturated, len(d.compare))
		} else if !keepalive {
			continue // the floor has one small file
		}
		d.compare = append(d.compare, comparison{name: c.name + " to the floor", a: c, b: floor, metric: claimCPU})
	}
	d.sameRate(same, saturated...)
	return nil
}

// addPrograms adds what a CGI program answers, the bare start of the program
// beside.
func (l *lab) addPrograms(d *design, subjects []subject.Subject, duration time.Duration) error {
	spawn, err := l.spawnCell(duration)
	if err != nil {
		return err
	}
	cells := []*cell{spawn}
	for _, s := range subjects {
		c := l.cell(s, "/cgi-bin/hello", "hello", true, 8, duration)
		cells = append(cells, c)
		d.compare = append(d.compare, comparison{name: c.name + " to a loop of posix_spawn", a: c, b: spawn, metric: claimRate})
	}
	d.units = append(d.units, cells)
	return nil
}

// cell is one path under a closed loop, whose answer is content.
func (l *lab) cell(s subject.Subject, path, content string, keepalive bool, clients int, duration time.Duration) *cell {
	how := "keep-alive"
	if !keepalive {
		how = "one connection a request"
	}
	handler := strings.TrimPrefix(path, "/")
	return &cell{
		name: fmt.Sprintf("%s %s, %s", s.Name(), handler, how), subject: s, handler: handler, claims: claimRate, plan: l.single(path),
		load:   setting{clients: clients, keepalive: keepalive, warmup: duration / 5, duration: duration},
		proofs: []proof{{path, content}},
	}
}
