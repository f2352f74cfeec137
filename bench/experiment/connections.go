package experiment

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// connections weighs connections: those that are made for one request each, and
// those that are only open.
func connections() Experiment {
	return Experiment{
		Name:     "connections",
		Question: "What does a connection cost: one made for each request, and ten thousand that are only open?",
		Held: "A file of 100 bytes; the server on one core, the client on another; what is compared runs right after each other. In the " +
			"first part 64 clients make a connection for each request, which the server closes; the floor is a C program that accepts, " +
			"answers without looking, and closes. In the second part a server is compared with itself: clients on kept connections, " +
			"each asking again as soon as it has its answer, beside connections that never ask, and without these.",
		NotRepeated: "Nothing published stands beside these figures.",
		peers:       true,
		design:      designConnections,
	}
}

// idleCrowd is how many connections are only open, if the descriptor limit
// lets them.
const idleCrowd = 10_000

func designConnections(l *lab) (*design, error) {
	runs, duration := l.scaled(20, floorRuns, 1500*time.Millisecond, 600*time.Millisecond)
	d := &design{runs: runs}
	if err := l.refuseRemotes(); err != nil {
		return nil, err
	}
	if err := l.addClosing(d, duration); err != nil {
		return nil, err
	}
	return d, l.addIdle(d, duration)
}

// addClosing adds the part of a connection for each request.
func (l *lab) addClosing(d *design, duration time.Duration) error {
	program, err := l.floorProgram("floor")
	if err != nil {
		return err
	}
	bottom, err := l.local(subject.Floor(program, filepath.Join(l.Fixtures, hundred), true))
	if err != nil {
		return err
	}
	ours, err := l.runnable(d, l.variants("epoll", "percore", "uring", "accel", "symped", "prefork-reuseport", "iterative", "fork", "inetd")...)
	if err != nil {
		return err
	}
	recipes, remarks, err := found(subject.Setup{Root: l.Fixtures}, l.peers("nginx")...)
	if err != nil {
		return err
	}
	d.remarks = append(d.remarks, remarks...)
	theirs, err := l.locals(recipes)
	if err != nil {
		return err
	}
	first := l.cell(bottom, hundred, "100.html", false, 64, duration)
	unit := []*cell{first}
	for _, s := range ours {
		c := l.cell(s, hundred, "100.html", false, 64, duration)
		unit = append(unit, c)
		d.compare = append(d.compare, comparison{name: s.Name() + " to the floor, one connection a request", a: c, b: first, metric: claimCPU})
	}
	for _, s := range theirs {
		c := l.cell(s, hundred, "100.html", false, 64, duration)
		for _, our := range unit[1 : 1+len(ours)] {
			d.compare = append(d.compare, comparison{
				name: fmt.Sprintf("%s to %s, one connection a request", our.subject.Name(), s.Name()), a: our, b: c, metric: claimCPU,
			})
		}
		unit = append(unit, c)
	}
	for _, c := range unit {
		c.claims = claimCPU
	}
	d.units = append(d.units, unit)
	return nil
}

// addIdle adds the part of connections that are only open.
func (l *lab) addIdle(d *design, duration time.Duration) error {
	idle := idleCrowd
	if room := l.noFile - spareDescriptors - 64; room < idle {
		if room < 1 {
			d.remark(fmt.Sprintf("idle connections were left out: the descriptor limit is %d", l.noFile))
			return nil
		}
		d.remark(fmt.Sprintf("%d idle connections instead of %d: the descriptor limit is %d", room, idle, l.noFile))
		idle = room
	}
	servers, err := l.runnable(d, l.variants("epoll", "uring", "poll")...)
	if err != nil {
		return err
	}
	for _, s := range servers {
		active := 64
		if s.Name() == "poll" { // or it answers so many at each look through all that the look is cheap
			active = 10
		}
		with := crowdCell(l, s, crowd{active, idle}, duration)
		without := crowdCell(l, s, crowd{active, 0}, duration)
		d.units = append(d.units, []*cell{with, without})
		d.compare = append(d.compare, comparison{
			name: fmt.Sprintf("%s, %d active: %d idle beside them to none", s.Name(), active, idle), a: with, b: without, metric: claimCPU,
		})
	}
	return nil
}
