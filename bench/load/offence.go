package load

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"golang.org/x/sys/unix"
)

// An Offence is the first exchange of a run that had a fault, kept for the
// report. It is a copy: nothing in it is used again.
type Offence struct {
	Fault   bench.Fault
	At      time.Duration // since the start of the run
	Request string        // method and target
	Status  int           // 0 when no head was complete
	Got     int64         // body bytes
	Want    int64         // body bytes expected, -1 when any would do
	Errno   unix.Errno    // what the kernel said, 0 if it was not asked
	// Excerpt is what was at hand of the reply: its beginning, at most 1 KiB.
	Excerpt []byte
}

const maxExcerpt = 1 << 10

// note keeps the oldest exchange as the worker's first offence, if it is the
// first.
func (w *worker) note(c *client, fault bench.Fault, view []byte, errno unix.Errno) {
	if w.offence != nil || c.at(0).sample.Due < w.from {
		return
	}
	r, x := &c.reply, c.at(0)
	if len(r.kept) > 0 {
		view = r.kept
	} else if len(r.part) > 0 {
		view = r.part
	}
	method := x.ask.Method
	if method == "" {
		method = "GET"
	}
	e := &x.ask.Expect
	w.offence = &Offence{
		Fault: fault, At: w.now, Request: method + " " + string(x.ask.Target),
		Status: int(r.status), Got: r.body, Want: e.Length, Errno: errno,
		Excerpt: bytes.Clone(view[:min(len(view), maxExcerpt)]),
	}
	if e.Length < 0 && e.Learn != bench.LearnNothing {
		w.offence.Want = w.run.lessons[x.ask.Class].length.Load() - 1
	}
}

// remember keeps the beginning of a reply that comes in pieces, as long as it
// may become the first offence.
func (w *worker) remember(c *client, start []byte) {
	if w.offence == nil && len(c.reply.kept) == 0 {
		c.reply.kept = append(c.reply.kept, start[:min(len(start), maxExcerpt)]...)
	}
}

// String says in one line what was wrong.
func (o *Offence) String() string {
	s := fmt.Sprintf("%s at %.3f s: %s", o.Fault, o.At.Seconds(), o.Request)
	if o.Errno != 0 {
		s += ": " + o.Errno.Error()
	}
	if o.Status != 0 {
		s += fmt.Sprintf(": status %d, %d body bytes", o.Status, o.Got)
		if o.Fault == bench.FaultLength {
			s += fmt.Sprintf(", expected %d", o.Want)
		}
	}
	if line := firstLine(o.Excerpt); line != "" {
		s += fmt.Sprintf(", beginning %q", line)
	}
	return s
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line[:min(len(line), 80)], "\r")
}
