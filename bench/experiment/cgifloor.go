package experiment

import (
	"fmt"
	"time"
)

// cgiFloor weighs the CGI gateway against the bare start of processes.
func cgiFloor() Experiment {
	return Experiment{
		Name:     "cgi-floor",
		Question: "How close does answering by a CGI program come to just running that program?",
		Held: "The same C program, which prints a fixed page; server and programs share one core, as the C loop of posix_spawn and its " +
			"programs do; eight kept connections ask from the other core; the two run in turn.",
		NotRepeated: "Nothing published stands beside: the loop does. It parses no request, builds no variables and sends no reply.",
		design:      designCGIFloor,
	}
}

func designCGIFloor(l *lab) (*design, error) {
	runs, duration := l.scaled(11, 6, 2*time.Second, time.Second)
	d := &design{runs: runs}
	subjects, err := l.ours("epoll")
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		c := l.cell(s, "/cgi-bin/hello", "hello", true, 8, duration)
		f, err := l.spawnCell(duration)
		if err != nil {
			return nil, err
		}
		f.name = fmt.Sprintf("spawn beside %s", s.Name())
		d.units = append(d.units, []*cell{c, f})
		d.compare = append(d.compare,
			comparison{name: fmt.Sprintf("%s to a loop of posix_spawn", s.Name()), a: c, b: f, metric: claimRate},
			// Other processes on the core slow one loop and eight programs
			// differently; the CPU they need stays.
			comparison{name: fmt.Sprintf("a loop of posix_spawn to %s", s.Name()), a: f, b: c, metric: claimCPU})
	}
	return d, nil
}

// spawnCell is the loop that runs the CGI program hello.
func (l *lab) spawnCell(duration time.Duration) (*cell, error) {
	p, err := l.spawn("hello")
	if err != nil {
		return nil, err
	}
	return &cell{
		name: "spawn", program: p, handler: "cgi-bin/hello", claims: claimRate,
		load: setting{clients: 1, duration: duration},
	}, nil
}
