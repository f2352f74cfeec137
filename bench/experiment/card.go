package experiment

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// card runs one server through the standard loads, the floors beside.
func card() Experiment {
	return Experiment{
		Name:     "card",
		Question: "What does this server do under the standard loads?",
		Held: "The file of 100 bytes on kept connections and one connection a request, a page made in the server, a page made by a CGI " +
			"program; 64 connections, eight for CGI; the server on one core, the client on another; beside each the program that " +
			"does the same without thinking, run in turn.",
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
	program, err := l.floorProgram("floor")
	if err != nil {
		return nil, err
	}
	for _, keepalive := range []bool{true, false} {
		f, err := l.local(subject.Floor(program, filepath.Join(l.Fixtures, hundred), !keepalive))
		if err != nil {
			return nil, err
		}
		cells := []*cell{l.cell(f, hundred, "100.html", keepalive, 64, duration)}
		for _, s := range subjects {
			cells = append(cells, l.cell(s, hundred, "100.html", keepalive, 64, duration))
			if keepalive {
				cells = append(cells, l.cell(s, "/api/hello", "hello", true, 64, duration))
			}
		}
		d.units = append(d.units, cells)
		for _, c := range cells[1:] {
			d.compare = append(d.compare, comparison{name: c.name + " to the floor", a: c, b: cells[0], metric: claimCPU})
		}
	}
	spawn, err := l.spawnCell(duration)
	if err != nil {
		return nil, err
	}
	cells := []*cell{spawn}
	for _, s := range subjects {
		c := l.cell(s, "/cgi-bin/hello", "hello", true, 8, duration)
		cells = append(cells, c)
		d.compare = append(d.compare, comparison{name: c.name + " to a loop of posix_spawn", a: c, b: spawn, metric: claimRate})
	}
	d.units = append(d.units, cells)
	return d, nil
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
