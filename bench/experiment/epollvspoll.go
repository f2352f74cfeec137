package experiment

import (
	"fmt"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/published"
	"github.com/weighstone/weighstone/bench/subject"
)

// epollVsPoll asks a study of 2005 again, in which a server did better with
// poll than with epoll across a network, and what idle connections change.
func epollVsPoll() Experiment {
	return Experiment{
		Name:     "epoll-vs-poll",
		Question: "What does a request cost under poll and under epoll, with all connections active and with most of them idle?",
		Held: "One event loop serves both, with the dispatcher as the only difference; one loop, one core; the 100-byte file on " +
			"kept connections. The figure is the server's CPU time a request: with each saturated, each client asking again as soon as it " +
			"has its answer, where the slower server gets more requests a wait, which flatters it; and again with the same requests offered " +
			"to both, at random and at half of what the slower one can do.",
		NotRepeated: "The network between the machines and the kernel 2.6.10 of the 2005 study, whose authors expected loopback to differ. " +
			"Its servers told epoll of every change of a connection's state, one system call each; this loop does so once a connection. " +
			"The expected ratios were measured with lighttpd 1.4.69 on Linux 6.18.",
		design: designEpollVsPoll,
	}
}

// A crowd is how many connections are active and how many only open.
type crowd struct{ active, idle int }

func crowds() []crowd {
	return []crowd{{10, 0}, {100, 0}, {1000, 0}, {10, 1000}, {100, 1000}, {10, 8000}, {100, 8000}}
}

// quickOffered says whether a quick look compares this crowd at the same
// offered rate too: one with all connections active, one with most of them idle.
func (c crowd) quickOffered() bool { return c == crowd{100, 0} || c == crowd{10, 1000} }

// spareDescriptors are what a process needs beside its connections.
const spareDescriptors = 200

func designEpollVsPoll(l *lab) (*design, error) {
	names := l.variants("poll", "epoll")
	if len(names) != 2 {
		return nil, fmt.Errorf("expected two variants to compare, got %d: %v", len(names), names)
	}
	if err := l.refuseRemotes(); err != nil {
		return nil, err
	}
	runs, duration := l.scaled(10, 6, 3*time.Second, 500*time.Millisecond)
	d := &design{runs: runs}
	var subjects []subject.Subject
	for _, name := range names {
		s, err := l.variant(name)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, s)
	}
	for _, crowd := range crowds() {
		remark := ""
		if room := l.noFile - spareDescriptors - crowd.active; crowd.idle > room {
			if room <= 0 {
				d.remarks = append(d.remarks, fmt.Sprintf("%d connections were left out: the descriptor limit is %d", crowd.active, l.noFile))
				continue
			}
			remark = fmt.Sprintf("%d idle connections instead of %d: the descriptor limit is %d", room, crowd.idle, l.noFile)
			crowd.idle = room
		}
		a := crowdCell(l, subjects[0], crowd, duration)
		b := crowdCell(l, subjects[1], crowd, duration)
		if remark != "" {
			a.remarks, b.remarks = []string{remark}, []string{remark}
		}
		d.units = append(d.units, []*cell{a, b})
		c := comparison{name: fmt.Sprintf("%s to %s, %s", names[0], names[1], crowd), a: a, b: b, metric: claimCPU}
		if p, ok := published.PollOverEpoll(crowd.active, crowd.idle); ok && names[0] == "poll" && names[1] == "epoll" {
			c.published, c.source = p.Value, p.Source
		}
		d.compare = append(d.compare, c)
		if !l.Quick || crowd.quickOffered() {
			d.sameRate([]*cell{a, b}, len(d.compare)-1)
		}
	}
	return d, nil
}

// String is "10 active" or "10 active, 1000 idle".
func (c crowd) String() string {
	if c.idle == 0 {
		return fmt.Sprintf("%d active", c.active)
	}
	return fmt.Sprintf("%d active, %d idle", c.active, c.idle)
}

func crowdCell(l *lab, s subject.Subject, crowd crowd, duration time.Duration) *cell {
	return &cell{
		name: fmt.Sprintf("%s, %s", s.Name(), crowd), subject: s, handler: "100.html", claims: claimCPU,
		load:   setting{clients: crowd.active, idle: crowd.idle, keepalive: true, warmup: duration / 5, duration: duration},
		proofs: []proof{{hundred, "100.html"}},
		plan:   l.single(hundred),
	}
}

// single is the plan that asks for one path.
func (l *lab) single(path string) func(base string) (*plan.Plan, error) {
	return func(base string) (*plan.Plan, error) {
		return plan.URL(base+path, plan.Options{Seed: l.Seed, Files: l.file})
	}
}
