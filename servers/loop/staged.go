package loop

import (
	"net/http"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/stage"
	"github.com/weighstone/weighstone/servers/wire"
)

// The sizes of a stage when nothing is said. A thread is added when more than
// stageThreshold events wait, and takes at most stageBatch at a time.
const (
	DefaultQueue   = 1024
	DefaultThreads = 8
	Stages         = 3 // behind accepting and reading
	stageThreshold = 32
	stageBatch     = 16
)

// A network is the stages behind the loops, in the order in which a request goes
// through them. Loops alone put events into the first, so nothing goes round.
type network struct {
	parse, handle, send *stage.Stage[*job]
}

// A job is a connection on its way through the stages, with what was read of it.
// Each stage owns it in turn.
type job struct {
	l       *loop
	c       *conn
	machine *wire.Machine // has the request from parsing to rendering
	buf     []byte        // data lies in it
	data    []byte        // not yet answered
	seen    int           // of data, looked at before
	head    int           // length of the request's head
	out     []byte
	outcome outcome
}

// An outcome is how a connection comes back to its loop.
type outcome uint8

const (
	incomplete outcome = iota // more must be read
	done                      // answered, all is sent
	unsent                    // answered, and the socket is full
	waits                     // the handler may wait: it is for a goroutine
	broken
)

func newNetwork(k weighstone.Knobs) *network {
	queue, threads := DefaultQueue, DefaultThreads
	if k.Queue > 0 {
		queue = k.Queue
	}
	if k.MaxWorkers > 0 {
		threads = k.MaxWorkers
	}
	n := new(network)
	open := func(name string, queue int, work func(*network, *job)) *stage.Stage[*job] {
		return stage.New(stage.Config{
			Name: name, Queue: queue, Batch: stageBatch, Min: 1, Max: threads, Threshold: min(stageThreshold, queue/2),
		}, func() func([]*job) {
			return func(batch []*job) {
				for _, j := range batch {
					work(n, j)
				}
			}
		})
	}
	n.parse = open("parse", queue, (*network).parseOne)
	n.handle = open("handle", queue, (*network).handleOne)
	// It takes all that can be in the stages before it, or an answer would be
	// lost that has been paid for.
	n.send = open("send", 2*(queue+threads*stageBatch), (*network).sendOne)
	return n
}

// close ends the stages. The loops have ended.
func (n *network) close() {
	n.parse.Close()
	n.handle.Close()
	n.send.Close()
}

// submit gives c, of which data was read, to the first stage. It is admission
// control: what that has no room for is answered 503 here, in the loop, for
// which nothing needs to be parsed.
//
// Until c comes back nothing may be told of it: a loop that took another step
// would do so beside the stage. An input is told once (EPOLLONESHOT), but c may
// come from a reply that the socket has taken at last, or from a goroutine, and
// what is then asked of the dispatcher is told again and again.
func (l *loop) submit(c *conn, data []byte, seen int) {
	if len(data) == 0 {
		l.rest(c, nil, true)
		return
	}
	if c.armed != evOnce {
		l.io.unwatch(c)
		l.enter(c, weighstone.StateHead)
	}
	j := l.job()
	j.c, j.seen = c, seen
	j.buf = append(j.buf[:0], data...)
	j.data = j.buf
	c.in = nil
	c.lent = true
	if l.stages.parse.Put(j) {
		return
	}
	l.free(j)
	c.lent, c.closing, c.linger = false, true, true
	if l.transmit(c, l.machine.Refuse(l.out[:0], http.StatusServiceUnavailable)) {
		l.finish(c)
	}
}

// job returns one that is free. There are never more than go through the stages
// at a time.
func (l *loop) job() *job {
	last := len(l.jobs) - 1
	if last < 0 {
		return l.newJob()
	}
	j := l.jobs[last]
	l.jobs = l.jobs[:last]
	return j
}

// free keeps j for another connection.
func (l *loop) free(j *job) {
	j.c, j.data = nil, nil
	l.jobs = append(l.jobs, j)
}

// parseOne is the second stage behind accepting and reading: it takes the next
// head from what was read.
func (n *network) parseOne(j *job) {
	c := j.c
	j.machine.Tick(time.Now())
	skip := min(c.skip, int64(len(j.data)))
	c.skip -= skip
	j.data = j.data[skip:]
	if len(j.data) == 0 {
		j.back(incomplete)
		return
	}
	var step wire.Step
	j.head, step = j.machine.Parse(j.data, j.seen, &c.peer)
	switch step {
	case wire.NeedMore:
		j.back(incomplete)
	case wire.Parsed:
		if n.handle.Put(j) {
			return
		}
		j.machine.Overload()
		n.sendNext(j)
	default: // a head that is refused
		n.sendNext(j)
	}
}

// handleOne has the request answered.
func (n *network) handleOne(j *job) {
	if j.machine.Handle() == wire.Leave {
		j.back(waits)
		return
	}
	n.sendNext(j)
}

// sendNext puts j into the last stage's queue, which has room for all.
func (n *network) sendNext(j *job) {
	if !n.send.Put(j) {
		n.sendOne(j)
	}
}

// sendOne renders the reply and sends what the socket takes. The rest is the
// loop's, which learns when the socket takes more.
func (n *network) sendOne(j *job) {
	c, l, m := j.c, j.l, j.machine
	var keep bool
	j.out, c.rest, keep = m.Reply(j.out[:0], l.draining.Load())
	c.skip, c.served = m.Unread(), true
	j.data = j.data[j.head:]
	if !keep {
		c.closing = true
		c.linger = len(j.data) > 0 || !m.AskedToClose()
	}
	left, errno := l.push(c, j.out)
	switch {
	case errno != 0 && errno != unix.EAGAIN:
		j.back(broken)
	case len(left) > 0 || !c.rest.Empty():
		c.out = slices.Clone(left)
		j.back(unsent)
	default:
		j.back(done)
	}
}

// back gives the connection back to its loop.
func (j *job) back(o outcome) {
	j.outcome = o
	j.l.giveBack(returned{c: j.c, from: stages, job: j})
}

// staged goes on with c when it comes back from the stages.
func (l *loop) staged(c *conn, j *job) {
	defer l.free(j)
	c.lent = false
	late := c.late
	c.late = false
	switch j.outcome {
	case broken:
		l.destroy(c)
	case waits:
		l.lend(c, j.data)
	case unsent:
		l.keep(c, j.data)
		l.enter(c, weighstone.StateWrite)
		l.io.awaitRoom(c)
	case done:
		switch {
		case c.closing:
			l.finish(c)
		case len(j.data) > 0: // the next request, whose time begins
			l.enter(c, weighstone.StateHead)
			l.submit(c, j.data, 0)
		default:
			l.rest(c, nil, true)
		}
	case incomplete:
		if late {
			l.enter(c, c.was)
			l.keep(c, j.data)
			l.overdue(c)
			return
		}
		l.rest(c, j.data, false)
	}
}
