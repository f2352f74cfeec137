package load

import (
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/tally"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// What a descriptor of a worker is, if not the connection of the client with
// that index.
const (
	ownerNone   int32 = -1
	ownerWake   int32 = -2
	ownerCloser int32 = -3 // and below: -3-i is closers[i]
)

const (
	readSize  = 64 << 10
	maxEvents = 256

	// backoff is how long a client waits after it could not connect, which
	// else would be repeated as fast as the machine can.
	backoff = 10 * time.Millisecond
	// lingering is how long the server may take to close a connection.
	lingering = time.Second
)

// A worker is an event loop with its clients. One locked thread runs it; only
// the fields of progress are read by others meanwhile.
type worker struct {
	run      *run
	config   *Config
	from     time.Duration // when the warm-up ends
	until    time.Duration // no request is due at or after; 0: no such time
	scanEach time.Duration

	epfd, wakefd int
	owners       []int32 // by descriptor
	clients      []client
	closers      []closer
	dialer       *dialer
	render       *renderer
	pacer        bench.Pacer
	share        int64 // of the budget
	asked        uint64
	busy         int // exchanges under way or scheduled
	later        schedule
	seen         []uint32 // replies by class

	tally    *tally.Tally
	counts   counts
	offence  *Offence
	now      time.Duration // since the start of the run, as last looked at
	nextScan time.Duration
	cpu      cpuClock

	hung   bool // the connection being read has been ended by the server
	buf    []byte
	events [maxEvents]unix.EpollEvent
	resp   http1.Response
	limits http1.Limits

	progress struct {
		_            [64]byte
		good, faulty atomic.Uint64
		_            [64]byte
	}
}

// counts are what a worker counts beside samples.
type counts struct {
	connections    uint64 // made
	closedByServer uint64
	closedByClient uint64
	stale          uint64
	stray          uint64
	unfinished     uint64
	waits, events  uint64
}

func (c *counts) add(o *counts) {
	c.connections += o.connections
	c.closedByServer += o.closedByServer
	c.closedByClient += o.closedByClient
	c.stale += o.stale
	c.stray += o.stray
	c.unfinished += o.unfinished
	c.waits += o.waits
	c.events += o.events
}

// newWorker makes worker id of the run, with every n-th client.
func newWorker(r *run, id int) (*worker, error) {
	c := &r.config
	w := &worker{
		run: r, config: c, from: c.Warmup,
		scanEach: min(max(c.Timeout/20, time.Millisecond), 100*time.Millisecond),
		dialer:   newDialer(r.server, c.Sources, c.Pipeline > 1),
		render:   newRenderer(c, r.host),
		pacer:    bench.Closed{Think: c.Think},
		seen:     make([]uint32, len(r.lessons)),
		buf:      make([]byte, readSize),
	}
	if c.Duration > 0 {
		w.until = c.Warmup + c.Duration
	}
	if c.Pacer != nil {
		w.pacer = c.Pacer(id, c.Workers)
	}
	w.tally = tally.New(tally.Config{Classes: len(r.lessons), From: w.from, Until: w.until})
	for i := id; i < c.Clients; i += c.Workers {
		w.clients = append(w.clients, client{
			fd: -1, index: int32(len(w.clients)), script: c.Plan.Script(i),
			ring: make([]exchange, c.Pipeline), out: make([]byte, 0, 512),
			reply: reply{hash: sha256.New(), sum: make([]byte, 0, sha256.Size)},
		})
	}
	w.later = make(schedule, 0, len(w.clients)*c.Pipeline+1)
	return w, w.open()
}

func (w *worker) open() error {
	var errno unix.Errno
	if w.epfd, errno = sys.EpollCreate(); errno != 0 {
		return fmt.Errorf("load: create epoll: %w", errno)
	}
	if w.wakefd, errno = sys.EventFD(); errno != 0 {
		sys.Close(w.epfd)
		return fmt.Errorf("load: create eventfd: %w", errno)
	}
	w.own(w.wakefd, ownerWake)
	sys.EpollCtl(w.epfd, unix.EPOLL_CTL_ADD, w.wakefd, unix.EPOLLIN|unix.EPOLLET)
	return nil
}

// close closes whatever is open. The loop has ended.
func (w *worker) close() {
	for i := range w.clients {
		if c := &w.clients[i]; c.fd >= 0 {
			sys.Close(c.fd)
		}
	}
	for _, l := range w.closers {
		sys.Close(l.fd)
	}
	sys.Close(w.wakefd)
	sys.Close(w.epfd)
}

func (w *worker) own(fd int, owner int32) {
	for len(w.owners) <= fd {
		w.owners = append(w.owners, ownerNone)
	}
	w.owners[fd] = owner
}

// clock looks at the time.
func (w *worker) clock() time.Duration {
	w.now = time.Since(w.run.start)
	return w.now
}

// loop runs until every exchange is over or the run is stopped.
func (w *worker) loop() {
	w.clock()
	w.scan()
	for i := range w.clients {
		for range w.config.Pipeline {
			w.busy++
			w.free(&w.clients[i], 0, false)
		}
	}
	for (w.busy > 0 || len(w.closers) > 0) && !w.run.stopped.Load() {
		w.turn()
	}
	w.cpu.end(w.clock())
	for i := range w.clients {
		w.counts.unfinished += uint64(w.clients[i].count)
		if w.clients[i].state == connOpen {
			w.counts.closedByClient++
		}
	}
	w.publish()
}

// turn waits once and deals with all that has happened.
func (w *worker) turn() {
	n, errno := sys.EpollWait(w.epfd, w.events[:], w.patience())
	if errno != 0 {
		panic("load: epoll_wait on a descriptor of our own: " + errno.Error())
	}
	w.counts.waits++
	w.counts.events += uint64(n)
	for _, e := range w.events[:n] {
		w.happened(int(e.Fd), e.Events)
	}
	if n == 0 || len(w.later) > 0 {
		w.clock()
	}
	for len(w.later) > 0 && w.later[0].at <= w.now {
		w.keep(w.later.pop())
	}
	if w.now >= w.nextScan {
		w.scan()
	}
}

// patience is how long the wait may take.
func (w *worker) patience() time.Duration {
	next := w.nextScan
	if len(w.later) > 0 {
		next = min(next, w.later[0].at)
	}
	return max(next-w.now, 0)
}

// happened deals with the events of one descriptor.
func (w *worker) happened(fd int, events uint32) {
	owner := w.owners[fd]
	switch {
	case owner >= 0:
		c := &w.clients[owner]
		if c.state == connConnecting {
			w.connectEnded(c, events)
			return
		}
		if c.outOff < len(c.out) {
			w.flush(c)
		}
		if events&^unix.EPOLLOUT != 0 {
			w.readable(c, events)
		}
	case owner == ownerWake:
		sys.ClearWake(fd)
	case owner <= ownerCloser:
		w.counts.closedByServer++
		w.bury(int(ownerCloser - owner))
	}
}

// scan looks for what takes too long, and tells how far the run is.
func (w *worker) scan() {
	w.nextScan = w.now + w.scanEach
	w.cpu.begin(w.now, w.from)
	for i := range w.clients {
		c := &w.clients[i]
		if c.count > 0 && w.now-c.at(0).begun > w.config.Timeout {
			w.fail(c, bench.FaultTimeout, nil, 0)
		}
	}
	for i := len(w.closers) - 1; i >= 0; i-- {
		if w.now > w.closers[i].until {
			w.counts.closedByClient++
			w.bury(i)
		}
	}
	w.publish()
}

func (w *worker) publish() {
	var good uint64
	for _, n := range w.tally.Series {
		good += uint64(n)
	}
	w.progress.good.Store(good)
	w.progress.faulty.Store(w.tally.Faults.Total())
}
