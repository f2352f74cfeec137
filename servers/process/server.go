package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/scoreboard"
	"github.com/weighstone/weighstone/servers/thread"
)

// A server is the master of its workers.
type server struct {
	options   weighstone.Options
	model     model
	config    Config // of the workers, but for what differs between them
	log       *slog.Logger
	listeners []int
	null      *os.File

	// Of the goroutine that serves.
	children  map[int]*child // by position
	accepting bool           // connections may still come from the acceptor
	pending   []int          // connections that wait for a process
	events    chan event
	backoff   backoff
	changed   time.Time // when the number of workers was last changed
	begun     bool      // the first workers serve
	reopening bool      // workers are opening the access log again
	draining  bool      // no worker is replaced any more
	over      bool      // the time to drain is over: nothing is begun any more
	err       error     // why it can't go on

	acceptor *thread.Acceptor // nil where workers accept
	arrivals chan int         // connections from it
	accepted chan error       // how it ended

	drain  chan struct{} // closed by Drain
	cut    chan struct{} // closed when its time is over
	reopen chan struct{}
	done   chan struct{} // closed when Serve returns

	telling, cutting sync.Once // close drain and cut

	mu    sync.Mutex
	board *scoreboard.Board // nil before and after Serve
	last  weighstone.Stats  // when it ended
}

func newServer(o weighstone.Options, m model) *server {
	o.Limits = o.Limits.Filled()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{
		options: o, model: m, log: o.Log,
		children: map[int]*child{}, events: make(chan event),
		drain: make(chan struct{}), cut: make(chan struct{}), reopen: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.config = Config{
		Variant: m.variant, Engine: m.engine, Master: os.Getpid(), Threads: m.threads,
		Workers: 1, Limits: o.Limits, Knobs: o.Knobs,
	}
	// A pool of one thread in each: what else the knobs say is the master's.
	s.config.Knobs.MinWorkers, s.config.Knobs.MaxWorkers = 0, 0
	if m.conn != "" {
		s.makeAcceptor()
		return s
	}
	if o.Limits.MaxConns > 0 {
		s.config.Limits.MaxConns = max(o.Limits.MaxConns/m.bounds.max, 1)
	}
	return s
}

var errNoWorker = errors.New("no worker program is given")

// Serve starts workers and keeps them until Drain has finished. The site is
// the workers' to assemble.
func (s *server) Serve(listeners []int, _ *weighstone.Site) error {
	defer close(s.done)
	if err := s.open(listeners); err != nil {
		return err
	}
	defer s.close()
	return s.run()
}

// open gets together what workers inherit.
func (s *server) open(listeners []int) (err error) {
	if s.options.Worker == nil {
		return errNoWorker
	}
	s.listeners = listeners
	if s.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return fmt.Errorf("prepare workers: %w", err)
	}
	board, err := openBoard(s.options.Worker.Board, s.model.bounds.max)
	if err != nil {
		s.null.Close()
		return fmt.Errorf("prepare workers: %w", err)
	}
	s.mu.Lock()
	s.board = board
	s.mu.Unlock()
	return nil
}

// openBoard maps the board that was given, through a descriptor of its own, or
// makes one for so many workers.
func openBoard(given *os.File, workers int) (*scoreboard.Board, error) {
	if given == nil {
		return scoreboard.New(max(workers, scoreboard.DefaultSlots))
	}
	fd, err := unix.FcntlInt(given.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open scoreboard: %w", err)
	}
	return scoreboard.Open(os.NewFile(uintptr(fd), "scoreboard"))
}

// close frees what workers inherited; all of them are gone.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = s.board.Sum()
	if err := s.board.Close(); err != nil {
		s.log.Error("close scoreboard", "error", err)
	}
	s.board = nil
	s.null.Close()
}

// Drain has the workers finish what is in flight; see [weighstone.Server].
func (s *server) Drain(ctx context.Context) error {
	s.telling.Do(func() { close(s.drain) })
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.cutting.Do(func() { close(s.cut) })
	<-s.done
	return ctx.Err()
}

// Reopen tells the workers that the access log was renamed.
func (s *server) Reopen() {
	select {
	case s.reopen <- struct{}{}:
	default: // they are about to be told
	}
}

// Stats sums the counters of all processes on the scoreboard.
func (s *server) Stats() weighstone.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		return s.last
	}
	return s.board.Sum()
}
