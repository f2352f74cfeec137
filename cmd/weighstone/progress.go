package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/weighstone/weighstone/bench/load"
)

// plainEvery is how often a line tells of a run where there is no terminal; a
// shorter run has none.
const plainEvery = 10 * time.Second

// A loadProgress tells how far the load generator is: on a terminal by one line
// that changes, else by a line now and then.
type loadProgress struct {
	w        io.Writer
	terminal bool
	last     load.Progress // that was shown
	told     time.Duration // when a plain line was written last
}

func newLoadProgress(w io.Writer) *loadProgress {
	f, ok := w.(*os.File)
	return &loadProgress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// begin tells how long a run, or each of some steps, will take, where that is
// known and worth telling.
func (p *loadProgress) begin(c *load.Config, steps int) {
	each := c.Duration
	if each == 0 {
		each = c.Arrival.Over
	}
	if each == 0 && c.Requests == 0 {
		each = load.DefaultDuration
	}
	if all := time.Duration(steps) * each; all > plainEvery || all > 0 && p.terminal {
		fmt.Fprintf(p.w, "about %v\n", all)
	}
}

// show is called about once a second.
func (p *loadProgress) show(now load.Progress) {
	if now.Step != p.last.Step {
		p.last, p.told = load.Progress{}, 0
	}
	if !p.terminal && now.Elapsed-p.told < plainEvery {
		return
	}
	line := p.line(now)
	p.last, p.told = now, now.Elapsed
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

func (p *loadProgress) line(now load.Progress) (s string) {
	if now.Steps > 0 {
		s = fmt.Sprintf("step %d of %d, ", now.Step, now.Steps)
	}
	if now.Left > 0 {
		s += fmt.Sprintf("%v left, ", now.Left.Round(time.Second))
	}
	rate := float64(now.Good-p.last.Good) / (now.Elapsed - p.last.Elapsed).Seconds()
	return s + fmt.Sprintf("%.0f/s: %d good, %d bad in %.0f s", rate, now.Good, now.Faulty, now.Elapsed.Seconds())
}

// clear empties the line of a terminal.
func (p *loadProgress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
