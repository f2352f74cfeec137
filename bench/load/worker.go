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
	ownerCloser int32 = -3       // and below: -3-i is closers[i]
	ownerSpare  int32 = -1 << 30 // and below: spares in the same way
)

const (
	readSize  = 64 << 10
	maxEvents = 256

	// backoff is how long a client waits after it could not connect, which
	// else would be repeated as fast as the machine can.
	backoff = 10 * time.Millisecond
	// lingering is how long the server may take to close a connection.
	lingering = time.Second

	// spinFor is how long before its time a request of an open loop is waited
	// for by polling. Measured at 2,000 requests a second: half of them begin
	// within 1 us of their time instead of 40 us, for 15 to 30 us of CPU each.
	spinFor = 50 * time.Microsecond

	// sipsPerSecond is how often a slow reader reads.
	sipsPerSecond = 20
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
	spares       []spare
	spin         time.Duration // before an appointment, polled and not slept
	ahead        int           // how many spares there should be
	dialAfter    time.Duration // no spare is made before
	dialer       *dialer
	render       *renderer
	pacer        bench.Pacer
	share        int64 // of the budget
	asked        uint64
	busy         int // exchanges under way or scheduled
	later        schedule
	seen         []uint32 // replies by class

	tally    *tally.Tally
	relay    *tally.Relay
	turnAt   time.Duration // when the present stretch of the relay ends
	counts   counts
	offence  *Offence
	named    bool          // the first final head has been seen
	software string        // its Server field
	now      time.Duration // since the start of the run, as last looked at
	nextScan time.Duration
	cpu      cpuClock

	hung   bool // the connection being read has been ended by the server
	buf    []byte
	events [maxEvents]unix.EpollEvent
	waiter sys.Waiter
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
	stray          uint64 // connections on which bytes came that nobody had asked for
	unfinished     uint64
	dropped        uint64 // due, but never sent
	noPort         uint64 // connections that found no free port
	dials          uint64 // connections begun
	waits, events  uint64
	kept           uint64 // replies after which the connection was left open by the server
	sent           uint64 // bytes of requests
}

func (c *counts) add(o *counts) {
	c.connections += o.connections
	c.closedByServer += o.closedByServer
	c.closedByClient += o.closedByClient
	c.stale += o.stale
	c.stray += o.stray
	c.unfinished += o.unfinished
	c.dropped += o.dropped
	c.noPort += o.noPort
	c.dials += o.dials
	c.waits += o.waits
	c.events += o.events
	c.kept += o.kept
	c.sent += o.sent
}

// newWorker makes worker id of the run, with every n-th client.
func newWorker(r *run, id int) (*worker, error) {
	c := &r.config
	w := &worker{
		run: r, config: c, from: c.Warmup,
		scanEach: min(max(c.Timeout/20, time.Millisecond), 100*time.Millisecond),
		dialer:   newDialer(r.server, r.sources, c.Pipeline > 1),
		render:   newRenderer(c, r.host),
		pacer:    c.Arrival.Pacer(id, c.Workers),
		seen:     make([]uint32, len(r.lessons)),
		buf:      make([]byte, readSize),
		relay:    tally.NewRelay(c.Warmup), turnAt: c.Warmup + turnEach,
	}
	w.dialer.from(id, c.Workers)
	if c.Arrival.Open() {
		w.spin = spinFor
	}
	if c.ReadRate > 0 {
		w.buf = w.buf[:max(1, min(c.ReadRate/sipsPerSecond, readSize))]
		w.dialer.window = slowWindow
	}
	if id < c.ConnectAhead {
		w.ahead = (c.ConnectAhead-id-1)/c.Workers + 1
		w.spares = make([]spare, 0, w.ahead)
	}
	if c.Duration > 0 {
		w.until = c.Warmup + c.Duration
	}
	w.tally = tally.New(tally.Config{Classes: len(r.lessons), From: w.from, Until: w.until})
	for i := id; i < c.Clients; i += c.Workers {
		w.clients = append(w.clients, client{
			fd: -1, index: int32(len(w.clients)), script: c.Plan.Script(i),
			ring: make([]exchange, c.Pipeline), out: make([]byte, 0, 512),
			reply: reply{hash: sha256.New(), sum: make([]byte, 0, sha256.Size)},
		})
	}
	w.later = make(schedule, 0, len(w.clients)*(c.Pipeline+2)+1)
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
	for _, s := range w.spares {
		sys.Close(s.fd)
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
	w.refill()
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
	w.counts.dropped = w.neverSent()
	w.counts.dials = w.dialer.dials
	for i := range w.clients {
		w.counts.unfinished += uint64(w.clients[i].count)
		if w.clients[i].state == connOpen {
			w.counts.closedByClient++
		}
	}
	for i := range w.spares {
		if w.spares[i].open {
			w.counts.closedByClient++
		}
	}
	w.publish()
}

// turn waits once and deals with all that has happened.
func (w *worker) turn() {
	n, errno := w.waiter.Wait(w.epfd, w.events[:], w.patience())
	if errno != 0 {
		panic("load: epoll_wait on a descriptor of our own: " + errno.Error())
	}
	w.counts.waits++
	w.counts.events += uint64(n)
	for _, e := range w.events[:n] {
		w.happened(int(e.Fd), e.Events)
		w.keepDue() // or a large batch would make what is due late
	}
	if n == 0 || len(w.later) > 0 {
		w.clock()
		w.keepDue()
	}
	if len(w.spares) < w.ahead {
		w.refill()
	}
	if w.now >= w.nextScan {
		w.scan()
	}
}

// keepDue begins what is due by now.
func (w *worker) keepDue() {
	for len(w.later) > 0 && w.later[0].at <= w.now {
		w.keep(w.later.pop())
	}
}

// patience is how long the wait may take.
func (w *worker) patience() time.Duration {
	next := w.nextScan
	if len(w.later) > 0 {
		next = min(next, w.later[0].at)
	}
	wait := max(next-w.now, 0)
	if wait > 0 && w.spin > 0 && len(w.later) > 0 {
		wait = max(wait-w.spin, 0)
	}
	return wait
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
	case owner <= ownerSpare:
		w.spareHappened(int(ownerSpare-owner), events)
	case owner <= ownerCloser:
		w.closerHappened(int(ownerCloser-owner), events)
	}
}

// scan looks for what takes too long, and tells how far the run is.
func (w *worker) scan() {
	w.nextScan = w.now + w.scanEach
	for _, edge := range [...]time.Duration{w.from, w.turnAt} {
		if w.now < edge {
			w.nextScan = min(w.nextScan, edge)
		}
	}
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
	if w.now >= w.turnAt && w.relay.Turn(w.tally, w.now) {
		w.turnAt += turnEach * ((w.now-w.turnAt)/turnEach + 1)
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
