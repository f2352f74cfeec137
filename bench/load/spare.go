package load

import (
	"time"

	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// A spare is a connection made ahead, which no client has yet.
type spare struct {
	fd    int
	begun time.Duration
	open  bool // connected
}

// refill makes as many connections as there should be spare ones.
func (w *worker) refill() {
	if w.now < w.dialAfter || w.until > 0 && w.now >= w.until {
		return
	}
	for len(w.spares) < w.ahead {
		fd, errno := w.dialer.dial()
		if fd < 0 {
			w.noteNoPort(errno)
			w.dialAfter = w.now + backoff
			return
		}
		w.own(fd, ownerSpare-int32(len(w.spares)))
		w.spares = append(w.spares, spare{fd: fd, begun: w.now})
		if e := sys.EpollCtl(w.epfd, unix.EPOLL_CTL_ADD, fd, interest); e != 0 {
			w.dropSpare(len(w.spares) - 1)
			w.dialAfter = w.now + backoff
			return
		}
		if errno == 0 {
			w.spareOpened(len(w.spares) - 1)
		}
	}
}

func (w *worker) spareOpened(i int) {
	w.spares[i].open = true
	w.counts.connections++
	w.tally.AddConnect(w.now, w.clock()-w.spares[i].begun)
}

// spareHappened deals with the events of spares[i]: it is connected, could not
// be, or the server has ended it. A failure costs no request; the client that
// needs a connection then meets it itself.
func (w *worker) spareHappened(i int, events uint32) {
	s := &w.spares[i]
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 && !s.open {
		w.dropSpare(i)
		w.dialAfter = w.clock() + backoff
		return
	}
	if !s.open {
		w.spareOpened(i)
	}
	if events&(hangup|unix.EPOLLIN) == 0 {
		return
	}
	if n, _ := sys.Read(s.fd, w.buf); n > 0 {
		w.unasked(w.buf[:n])
	} else {
		w.counts.closedByServer++
	}
	w.dropSpare(i)
}

func (w *worker) dropSpare(i int) {
	w.owners[w.spares[i].fd] = ownerNone
	sys.Close(w.spares[i].fd)
	w.forgetSpare(i)
}

// forgetSpare takes spares[i] off the list.
func (w *worker) forgetSpare(i int) {
	last := len(w.spares) - 1
	if i < last {
		w.spares[i] = w.spares[last]
		w.owners[w.spares[i].fd] = ownerSpare - int32(i)
	}
	w.spares = w.spares[:last]
}

// takeSpare gives c a spare connection, one that is connected if there is one.
// The worker must have one.
func (w *worker) takeSpare(c *client) {
	best := 0
	for i := range w.spares {
		if w.spares[i].open {
			best = i
			break
		}
	}
	s := w.spares[best]
	w.forgetSpare(best)
	c.fd, c.state = s.fd, connConnecting
	c.life++
	w.own(s.fd, c.index)
	if s.open {
		c.state, c.ahead = connOpen, true
		w.pump(c)
	}
}
