package loop

import (
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/quota"
	"github.com/weighstone/weighstone/servers/stage"
	"github.com/weighstone/weighstone/servers/wire"
)

// A loop is one thread of the server: it waits, accepts, reads, answers and
// writes, and never blocks but in its wait.
type loop struct {
	io        transport
	listeners []listener
	max       int // connections at a time
	knobs     weighstone.Knobs
	below     int // descriptors that the dispatcher takes; 0 for all
	pinned    bool
	core      int // of the thread, if pinned
	machine   *wire.Machine
	cache     *wire.Cache // of the machine; nil for none
	slot      *weighstone.Slot
	limits    weighstone.Limits
	log       *slog.Logger
	quota     *quota.Quota // of all loops
	acceptor  *acceptor    // has what the loop accepts; nil: the loop keeps that
	source    *loop        // accepts for this one; nil for none
	crew      Crew         // reads and answers in the loop's place; nil: the loop does
	helpers   *sync.Pool   // of *wire.Server, for the exchanges that may wait
	stages    *network     // parse, answer and send; nil: the loop does
	jobs      []*job       // for these, that are free
	newJob    func() *job
	fetchers  *stage.Stage[fetch] // read files for all loops; nil where the loops do it

	now   time.Time // of the last wait's end
	turns uint64    // waits so far
	conns []*conn   // by descriptor
	count int
	away  int // connections for which helpers are reading
	lists [stateParked + 1]list

	accepting bool
	retry     time.Time // when to accept again after a shortage; zero for none

	in    []byte // what a connection's bytes are read into
	out   []byte // what replies are rendered into
	piece []byte // what files are read into that are not sent by sendfile; made when first needed

	wake     int // eventfd: a connection comes from elsewhere, or the server is to drain
	mu       sync.Mutex
	back     []returned  // connections that goroutines give back
	arrived  []*conn     // connections that source has accepted
	working  []returned  // those that came back, being worked off
	adopting []*conn     // those that arrived, being taken in
	ended    bool        // nobody takes them any more
	prodded  []*conn     // whose parked exchanges are to be looked at
	looking  []*conn     // the same, being worked off
	awake    atomic.Bool // the loop attends to those before it waits

	draining atomic.Bool
	cut      atomic.Bool // the drain's time is over
	begun    bool        // the drain has begun
	grace    time.Time   // when the idle connections of a drain are closed
}

// pin binds the calling goroutine to a thread and that to a core, until unpin.
// Nothing inherits the core: the runtime starts no thread from a locked one, and
// the programs of handlers that wait are started by other threads.
func pin(core int) (unpin func(), err error) {
	runtime.LockOSThread()
	before := sys.Cores()
	if err := sys.PinThread(core); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		if sys.BindThread(before...) == nil { // else the thread ends with the goroutine
			runtime.UnlockOSThread()
		}
	}, nil
}

// inputRoom is how many bytes one read can bring beyond a head, and outputRoom
// how many bytes of replies are gathered before they are written.
const (
	inputRoom  = 64 << 10
	outputRoom = 64 << 10
)

// run is the loop. It returns when a drain has finished.
func (l *loop) run() error {
	defer l.end()
	if l.pinned {
		unpin, err := pin(l.core)
		if err != nil {
			return err
		}
		defer unpin()
	}
	l.now = time.Now()
	if err := l.io.start(); err != nil {
		return err
	}
	l.resume()
	for {
		events, err := l.io.wait(l.timeout(), l.shares())
		if err != nil {
			return err
		}
		l.awake.Store(true)
		l.turns++
		l.now = time.Now()
		l.machine.Tick(l.now)
		l.slot.Waited(events)
		l.io.work()
		l.expire()
		l.attend()
		if l.draining.Load() && l.drain() {
			return nil
		}
	}
}

// shares says that others work for the loop's connections, goroutines or
// helpers: waiting should leave them the processor at once.
func (l *loop) shares() bool {
	return l.away > 0 || l.crew == nil && l.lists[weighstone.StateHandler].first != nil
}
