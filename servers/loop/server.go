// Package loop holds the event-driven servers: one raw loop over non-blocking
// sockets, with a transport to choose (transport.go). The reactors differ in
// nothing but their dispatcher.
//
// The way of a connection: accept.go takes it, the transport reads, read.go
// answers, write.go sends what the socket did not take at once, close.go ends it.
// away.go lends it to a goroutine for an exchange that may wait. timeout.go
// keeps the limits, drain.go ends the server.
package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/quota"
	"github.com/weighstone/weighstone/servers/stage"
	"github.com/weighstone/weighstone/servers/wire"
)

// NewEpoll makes a server whose loops wait by epoll(7).
func NewEpoll(o weighstone.Options) weighstone.Server {
	return newServer(o, kind{transport: react(newEpoll), epoll: true})
}

// NewPoll makes a server whose loops wait by poll(2).
func NewPoll(o weighstone.Options) weighstone.Server {
	return newServer(o, kind{transport: react(newPoll)})
}

// NewSelect makes a server whose loops wait by select(2). It holds at most
// [MaxSelectConns] connections, whatever the options say.
func NewSelect(o weighstone.Options) weighstone.Server {
	return newServer(o, kind{transport: react(newSelect), descriptors: sys.SetSize, conns: MaxSelectConns})
}

// NewPerCore makes a server of one loop for each core, unless told otherwise,
// that waits by epoll(7) and is pinned to its core.
func NewPerCore(o weighstone.Options) weighstone.Server {
	o.Knobs.Pin = true
	if o.Workers == 0 {
		o.Workers = len(sys.Cores())
	}
	return NewEpoll(o)
}

// NewUring makes a server whose loops are told of completions by io_uring(7).
func NewUring(o weighstone.Options) weighstone.Server {
	return newServer(o, kind{transport: newProactor})
}

// NewReactors makes a server of Options.Workers loops, 0 for one for each core,
// that wait by epoll(7), and of one more that accepts for them, from all
// listening sockets, and hands each connection to the next loop in turn.
func NewReactors(o weighstone.Options) weighstone.Server {
	if o.Workers == 0 {
		o.Workers = len(sys.Cores())
	}
	o.Knobs.Exclusive = false
	return newServer(o, kind{transport: react(newEpoll), epoll: true, acceptor: true})
}

// NewPoller makes a server of one loop that accepts, waits by epoll(7) while
// connections are between two requests, and has crew read and answer.
func NewPoller(o weighstone.Options, crew Crew) weighstone.Server {
	o.Workers = 1
	return newServer(o, kind{transport: react(newEpoll), crew: crew})
}

// NewAccel makes a server as NewEpoll does, with a cache of complete replies in
// front of the routes ([wire.Cache]), one in each loop. It has a method
// EmptyCache.
func NewAccel(o weighstone.Options) weighstone.Server {
	return newServer(o, kind{transport: react(newEpoll), epoll: true, cache: cacheBudget})
}

// NewAmped makes a server as NewEpoll does, whose loops never wait for a file:
// what is not in memory is read by Knobs.Helpers threads, 0 for
// [DefaultHelpers] (asymmetric multi-process event-driven, Pai, Druschel and
// Zwaenepoel 1999).
func NewAmped(o weighstone.Options) weighstone.Server {
	o.Knobs.Send = weighstone.SendAny
	return newServer(o, kind{transport: react(newEpoll), epoll: true, helpers: HelpersOf(o.Knobs)})
}

// NewStaged makes a server that is a network of stages, each a queue of
// Knobs.Queue events, 0 for [DefaultQueue], and at most Knobs.MaxWorkers
// threads, 0 for [DefaultThreads] (Welsh, Culler and Brewer 2001): one accepts,
// Options.Workers loops wait for the connections and read, and what they have
// read is parsed, answered and sent.
func NewStaged(o weighstone.Options) weighstone.Server {
	o.Knobs.Send = weighstone.SendAny
	o.Knobs.EdgeTriggered, o.Knobs.NaiveControl, o.Knobs.Exclusive = false, false, false
	return newServer(o, kind{transport: react(newEpoll), epoll: true, acceptor: true, staged: true})
}

// cacheBudget is what the caches of a server take together, in bytes: as much
// as the files in memory.
const cacheBudget = 64 << 20

// MaxSelectConns is how many connections a server that waits by select(2) can
// hold: its sets have room for descriptors below 1,024, and some of these are
// listeners, files, pipes and logs.
const MaxSelectConns = sys.SetSize - 104

// A kind is what tells the servers of this package apart.
type kind struct {
	transport   func(*loop) (transport, error)
	descriptors int // the transport takes those below; 0 for all
	conns       int // bound on connections; 0 for none of its own
	epoll       bool
	cache       int  // bytes for replies kept in front of the routes, of all loops; 0 for none
	acceptor    bool // one more loop accepts for the others
	crew        Crew // reads and answers in the loops' place; nil: they do
	staged      bool // stages parse, answer and send in the loops' place
	helpers     int  // threads that read files; 0 for none: the loops do
}

// react makes reactors of a kind of dispatcher.
func react(open func() (dispatcher, error)) func(*loop) (transport, error) {
	return func(l *loop) (transport, error) {
		d, err := open()
		if err != nil {
			return nil, err
		}
		return newReactor(l, d, l.knobs), nil
	}
}

// server is a number of loops that share nothing but their options.
type server struct {
	options weighstone.Options
	kind    kind
	cores   []int // where the loops are pinned, in turn; none if they are not
	quota   *quota.Quota
	slots   []*weighstone.Slot
	stages  *network // nil for none
	network func(weighstone.Knobs) *network
	fetch   *stage.Stage[fetch] // the helpers; nil for none
	read    func(fetch)         // what they do
	done    chan struct{}       // closed when Serve returns

	mu       sync.Mutex
	loops    []*loop
	draining bool
}

func newServer(o weighstone.Options, k kind) *server {
	o.Limits = o.Limits.Filled()
	o.Workers = max(o.Workers, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limits.MaxConns == 0 {
		// Files, pipes and the like need descriptors too.
		limit := sys.NoFile()
		o.Limits.MaxConns = max(limit-max(64, limit/10), 16)
	}
	if k.conns > 0 {
		o.Limits.MaxConns = min(o.Limits.MaxConns, k.conns)
	}
	if !k.epoll {
		o.Knobs.EdgeTriggered, o.Knobs.NaiveControl, o.Knobs.Exclusive = false, false, false
	}
	if o.Knobs.AcceptBatch == 0 {
		o.Knobs.AcceptBatch = acceptBatch
	}
	s := &server{options: o, kind: k, read: fetch.read, network: newNetwork, quota: quota.New(o.Knobs.ConnsPerAddr, o.Log), slots: o.Slots, done: make(chan struct{})}
	if o.Knobs.Pin {
		s.cores = sys.Cores()
	}
	if len(s.slots) == 0 {
		for range o.Workers {
			s.slots = append(s.slots, new(weighstone.Slot))
		}
	}
	return s
}

// Serve runs the loops until Drain has finished or one of them fails.
func (s *server) Serve(listeners []int, site *weighstone.Site) error {
	defer close(s.done)
	sys.OpenPoller()
	if s.kind.helpers > 0 {
		s.fetch = newFetchers(s.kind.helpers, s.options.Limits.MaxConns, s.read)
		defer s.fetch.Close()
	}
	if s.kind.staged {
		s.stages = s.network(s.options.Knobs)
		defer s.stages.close()
	}
	if err := s.open(listeners, site); err != nil {
		return err
	}
	errs := make([]error, len(s.loops))
	var wg sync.WaitGroup
	for i, l := range s.loops {
		wg.Go(func() {
			if errs[i] = l.run(); errs[i] != nil {
				s.announce(true) // one loop's failure ends the server
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// open makes the loops. Each gets its share of the listening sockets; if there
// are fewer of these, loops share them. If there is one that accepts for the
// others, it has all.
func (s *server) open(listeners []int, site *weighstone.Site) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.options.Workers
	for i := range n {
		var share []listener
		for j, fd := range listeners {
			if !s.kind.acceptor && (j%n == i || len(listeners) < n && i%len(listeners) == j) {
				share = append(share, listener{fd: fd, local: sys.LocalAddr(fd)})
			}
		}
		l, err := s.newLoop(share, site, s.slots[i%len(s.slots)])
		if err != nil {
			return s.giveUp(err)
		}
		if len(s.cores) > 0 {
			l.pinned, l.core = true, s.cores[(s.options.Position+i)%len(s.cores)]
		}
	}
	if s.kind.acceptor {
		var all []listener
		for _, fd := range listeners {
			all = append(all, listener{fd: fd, local: sys.LocalAddr(fd)})
		}
		l, err := s.newLoop(all, site, s.slots[0])
		if err != nil {
			return s.giveUp(err)
		}
		l.acceptFor(s.loops[:n], s.options.Limits.MaxConns)
	}
	return nil
}

// giveUp ends the loops that were made when one could not be.
func (s *server) giveUp(err error) error {
	for _, l := range s.loops {
		l.end()
	}
	s.loops = nil
	return fmt.Errorf("make loop: %w", err)
}

// newLoop makes a loop and adds it to the others. s.mu is held.
func (s *server) newLoop(listeners []listener, site *weighstone.Site, slot *weighstone.Slot) (*loop, error) {
	o := s.options
	wake, errno := sys.EventFD()
	if errno != 0 {
		return nil, fmt.Errorf("open eventfd: %w", errno)
	}
	config := wire.NewConfig(&o, site)
	l := &loop{
		wake: wake, listeners: listeners, slot: slot,
		max:      max(o.Limits.MaxConns/o.Workers, 1),
		below:    s.kind.descriptors,
		knobs:    o.Knobs,
		quota:    s.quota,
		crew:     s.kind.crew,
		fetchers: s.fetch,
		machine:  wire.NewMachine(config, slot),
		limits:   o.Limits, log: o.Log,
		helpers: &sync.Pool{New: func() any { return wire.NewServer(config, slot) }},
		in:      make([]byte, o.Limits.MaxHeader+inputRoom),
		out:     make([]byte, 0, outputRoom+2*inputRoom),
	}
	if s.stages != nil {
		l.stages = s.stages
		l.newJob = func() *job { return &job{l: l, machine: wire.NewMachine(config, slot)} }
	}
	if s.kind.cache > 0 {
		l.cache = wire.NewCache(s.kind.cache / o.Workers)
		l.machine.Remember(l.cache)
	}
	io, err := s.kind.transport(l)
	if err != nil {
		sys.Close(wake)
		return nil, err
	}
	l.io = io
	if s.draining { // Drain was faster than Serve, and what waits in the queue is still taken
		l.draining.Store(true)
		sys.Wake(l.wake)
	}
	s.loops = append(s.loops, l)
	return l, nil
}

// announce makes the loops drain; cut makes them end at once.
func (s *server) announce(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for _, l := range s.loops {
		l.draining.Store(true)
		if cut {
			l.cut.Store(true)
		}
		l.rouse()
	}
}

// Drain finishes what is in flight; see [weighstone.Server].
func (s *server) Drain(ctx context.Context) error {
	s.announce(false)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.announce(true)
	<-s.done
	return ctx.Err()
}

// EmptyCache makes the loops forget the replies that they keep, if they do.
func (s *server) EmptyCache() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loops {
		if l.cache != nil {
			l.cache.Empty()
		}
	}
}

// Stats sums the loops' counters.
func (s *server) Stats() weighstone.Stats { return weighstone.Sum(s.slots) }
