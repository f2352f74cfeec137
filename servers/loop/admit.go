package loop

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/uring"
)

// An early connection was accepted when the loop was full.
type early struct {
	fd int
	ln *listener
}

// listen asks for connections from ln, once and for all: the accept is
// multishot. While early ones wait none are asked for.
func (p *proactor) listen(ln *listener) error {
	if !ln.accepting && len(p.early) == 0 {
		ln.accepting = true
		p.accepts++
		p.ring.Accept(ln.fd, name(opAccept, ln.fd, 0))
	}
	return nil
}

func (p *proactor) unlisten(ln *listener) error {
	if ln.accepting {
		p.ring.Cancel(name(opAccept, ln.fd, 0), name(opCancel, 0, 0))
	}
	return nil
}

// accepted goes on when an accept has completed. A multishot accept takes all
// that wait, more than the loop may have: those wait here then.
func (p *proactor) accepted(fd int, done *uring.Completion) {
	l := p.l
	ln := p.listener(fd)
	if !done.More() {
		ln.accepting = false
		p.accepts--
	}
	switch errno := done.Errno(); {
	case errno == 0:
		p.early = append(p.early, early{fd: int(done.Result), ln: ln})
		p.admit()
	case errno != unix.ECANCELED:
		l.refused(errno)
	}
	if l.accepting && !ln.accepting {
		p.listen(ln)
	}
}

// listener finds the one of a descriptor; there are few.
func (p *proactor) listener(fd int) *listener {
	i := slices.IndexFunc(p.l.listeners, func(ln listener) bool { return ln.fd == fd })
	return &p.l.listeners[i]
}

// admit makes connections of those accepted, as many as the loop may have; a
// drain takes them all. While some wait, no more are asked for.
func (p *proactor) admit() {
	l := p.l
	if len(p.early) == 0 {
		return
	}
	n := 0
	for ; n < len(p.early) && (l.count < l.max || l.draining.Load()); n++ {
		e := p.early[n]
		l.welcome(e.ln, e.fd, sys.RemoteAddr(e.fd))
	}
	p.early = append(p.early[:0], p.early[n:]...)
	switch {
	case !l.accepting:
	case len(p.early) > 0:
		l.pause(time.Time{})
	default:
		for i := range l.listeners {
			p.listen(&l.listeners[i])
		}
	}
}
