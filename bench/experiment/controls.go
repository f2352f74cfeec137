package experiment

import (
	"math"
	"path/filepath"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/stat"
	"github.com/weighstone/weighstone/bench/subject"
)

// Controls are runs that show how far the others can be believed. They are
// made once a document, in every round among the others.
type controls struct {
	twins   []*cell // the same server twice; none or two
	ceiling []*cell // the client against a server that does next to nothing
}

// units are the controls as units of a design.
func (c *controls) units() [][]*cell {
	var all [][]*cell
	if len(c.twins) > 0 {
		all = append(all, c.twins)
	}
	for i := range c.ceiling {
		all = append(all, c.ceiling[i:i+1])
	}
	return all
}

// control adds the controls to a design.
func (l *lab) control(d *design) error {
	for _, c := range d.cells() {
		own, ok := c.subject.(*subject.Local)
		if !ok || c.load.open() || own.Name() == "floor" {
			continue
		}
		d.controls.twins = twinsOf(c, own)
		break
	}
	if d.controls.twins == nil {
		d.remarks = append(d.remarks, "no server was run against itself: none was started here, so it is not known what chance does")
	}
	return l.addCeilings(d)
}

// twinsOf makes two cells like c, each with a process of its own.
func twinsOf(c *cell, s *subject.Local) []*cell {
	var twins []*cell
	for _, name := range []string{" A", " A again"} {
		twin := *c
		twin.subject = s.Twin(s.Name() + name)
		twin.name = c.name + "," + name
		twin.remarks, twin.ceiling = nil, nil
		twins = append(twins, &twin)
	}
	return twins
}

// addCeilings gives each cell in a closed loop a floor with the same kind of
// connection: one that the design has anyway, or one more.
func (l *lab) addCeilings(d *design) error {
	for _, keepalive := range []bool{true, false} {
		var need []*cell
		var ceiling *cell
		for _, c := range append(d.cells(), d.controls.twins...) {
			switch {
			case c.subject == nil || c.load.open() || c.load.keepalive != keepalive:
			case c.subject.Name() == "floor":
				if ceiling == nil {
					ceiling = c
				}
			default:
				need = append(need, c)
			}
		}
		if len(need) == 0 {
			continue
		}
		if ceiling == nil {
			program, err := l.floorProgram("floor")
			if err != nil {
				d.remarks = append(d.remarks, "no ceiling was taken: "+err.Error())
				return nil
			}
			s, err := l.local(subject.Floor(program, filepath.Join(l.Fixtures, hundred), !keepalive))
			if err != nil {
				return err
			}
			ceiling = l.ceilingCell(s, need[0])
			d.controls.ceiling = append(d.controls.ceiling, ceiling)
		}
		for _, c := range need {
			c.ceiling = ceiling
		}
	}
	return nil
}

// ceilingClients are enough to keep the client busy, and few enough that each
// batch stays in its caches.
const ceilingClients = 64

func (l *lab) ceilingCell(s subject.Subject, like *cell) *cell {
	c := l.cell(s, hundred, "100.html", like.load.keepalive, ceilingClients, min(like.load.duration, time.Second))
	c.name = "ceiling of the client, " + map[bool]string{true: "keep-alive", false: "one connection a request"}[like.load.keepalive]
	c.load.http10 = like.load.http10
	return c
}

// noise compares the twins by every metric that comparisons use.
func (d *design) noise() []bench.Noise {
	if len(d.controls.twins) != 2 {
		return nil
	}
	a, b := d.controls.twins[0], d.controls.twins[1]
	all := []bench.Noise{}
	for _, m := range []metric{claimRate, claimCPU} {
		r := stat.ComparePairs(pairs(a, b, m)).Ratio
		n := bench.Noise{Subject: a.name, Metric: string(m), Ratio: bench.Number(r.Median)}
		if r.Bounded() {
			n.Lo, n.Hi = bench.Number(r.Lo), bench.Number(r.Hi)
			n.Spread = bench.Number(math.Max(r.Hi, 1/r.Lo))
		}
		all = append(all, n)
	}
	return all
}

// spreadOf returns the A/A spread of a metric as a factor, 1 when it is not
// known.
func spreadOf(noise []bench.Noise, m metric) float64 {
	for _, n := range noise {
		if n.Metric == string(m) && n.Spread != nil {
			return *n.Spread
		}
	}
	return 1
}

// ceilings are the ceilings as documents have them.
func (d *design) ceilings() []bench.Ceiling {
	var all []bench.Ceiling
	seen := map[*cell]bool{}
	for _, c := range d.cells() {
		if c.ceiling == nil || seen[c.ceiling] {
			continue
		}
		seen[c.ceiling] = true
		all = append(all, bench.Ceiling{
			Server: c.ceiling.variant(), Load: c.ceiling.load.offered(), RequestsPerS: summarise(c.ceiling.plain()).RequestsPerS,
		})
	}
	return all
}

// plain are the runs as documents have them.
func (c *cell) plain() []bench.Run {
	runs := []bench.Run{}
	for i := range c.runs {
		runs = append(runs, c.runs[i].Run)
	}
	return runs
}
