package report

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/weighstone/weighstone/bench/experiment"
)

// plainEvery is how often a line is written where there is no terminal.
const plainEvery = 10 * time.Second

// A Progress tells how far an experiment is: on a terminal by one line that
// changes, else by a line now and then. One goroutine uses it.
type Progress struct {
	w        io.Writer
	terminal bool
	width    int // of the terminal, in columns
	now      func() time.Time

	last    time.Time
	pending bool // the terminal's line is not empty
}

// NewProgress makes one that writes to f.
func NewProgress(f *os.File) *Progress {
	p := &Progress{w: f, terminal: term.IsTerminal(int(f.Fd())), now: time.Now}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		p.width = w
	}
	return p
}

// Show tells of a step.
func (p *Progress) Show(s experiment.Progress) {
	switch {
	case s.Stage == experiment.StageBegin:
		p.last = p.now()
		fmt.Fprintf(p.w, "%s: %d runs, about %v\n", s.Experiment, s.Total, s.Left.Round(time.Second))
	case s.Stage == experiment.StageEnd:
		p.Clear()
		fmt.Fprintf(p.w, "%s: %d runs made\n", s.Experiment, s.Done)
	case p.terminal:
		fmt.Fprintf(p.w, "\r\x1b[K%s", p.fit(p.line(s)))
		p.pending = true
	case p.now().Sub(p.last) >= plainEvery:
		p.last = p.now()
		fmt.Fprintln(p.w, p.line(s))
	}
}

// Clear empties the line on a terminal, before anything else is written there.
func (p *Progress) Clear() {
	if p.pending {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.pending = false
	}
}

func (p *Progress) line(s experiment.Progress) string {
	switch s.Stage {
	case experiment.StageProof:
		return fmt.Sprintf("%s: %s shows its answers", s.Experiment, s.Cell)
	case experiment.StagePilot:
		return fmt.Sprintf("%s: it is found out what %s can do", s.Experiment, s.Cell)
	case experiment.StageTranscript:
		return fmt.Sprintf("%s: ab measures %s", s.Experiment, s.Cell)
	case experiment.StageTrace:
		return fmt.Sprintf("%s: the system calls of %s are counted, %v left", s.Experiment, s.Cell, s.Left.Round(time.Second))
	}
	text := fmt.Sprintf("%s: run %d of %d, %v left: %s", s.Experiment, s.Done+1, s.Total, s.Left.Round(time.Second), s.Cell)
	if s.Rate > 0 {
		text += fmt.Sprintf(" (the last: %s/s)", thousands(s.Rate))
	}
	return text
}

// fit cuts a line to the terminal's width: one that wraps would not be
// overwritten.
func (p *Progress) fit(line string) string {
	if r := []rune(line); p.width > 1 && len(r) >= p.width {
		return string(r[:p.width-1])
	}
	return line
}
