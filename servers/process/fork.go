package process

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/thread"
)

// How a worker that is started for a connection gets it.
const (
	connPassed = "passed" // beside the other descriptors
	connStdio  = "stdio"  // as its standard input and output
)

// GivenEngine is what a worker is that serves one connection and ends.
const GivenEngine = "given"

// NewFork makes a server whose master accepts and starts a process for each
// connection. Go can't fork: each is an execve of the worker. Knobs.MaxWorkers
// bounds them; what is above waits in the queue.
func NewFork(o weighstone.Options) weighstone.Server {
	return newServer(o, perConn("fork", connPassed, &o))
}

// NewInetd makes a server in the manner of inetd(8): like [NewFork], but the
// worker finds its connection on descriptors 0 and 1.
func NewInetd(o weighstone.Options) weighstone.Server {
	return newServer(o, perConn("inetd", connStdio, &o))
}

// perConn is a model with a process for each connection.
func perConn(variant, conn string, o *weighstone.Options) model {
	most := o.Knobs.MaxWorkers
	if most == 0 {
		most = DefaultMax
	}
	if o.Limits.MaxConns > 0 {
		most = min(most, o.Limits.MaxConns)
	}
	return model{
		variant: variant, engine: GivenEngine, bounds: bounds{max: most}, conn: conn,
		threads: 1, debug: "asyncpreemptoff=1", // as for prefork
	}
}

// ForkKnobs tells the flags of a server with a process for each connection.
func ForkKnobs() []string {
	return []string{fmt.Sprintf("--max-workers: largest number of processes, by default %d; what is above waits in the queue", DefaultMax)}
}

// makeAcceptor makes what accepts for the master, on a thread of its own.
func (s *server) makeAcceptor() {
	o := weighstone.Options{Log: s.log, Limits: s.options.Limits}
	o.Limits.MaxConns = s.model.bounds.max
	s.config.Limits.MaxConns = 1
	s.arrivals, s.accepted = make(chan int), make(chan error, 1)
	s.acceptor = thread.NewAcceptor(o, func(conn int) { s.arrivals <- conn })
}

// accept begins to take connections.
func (s *server) accept() {
	s.accepting, s.begun = true, true
	go func() { s.accepted <- s.acceptor.Serve(s.listeners, nil) }()
	if s.options.Worker.Started != nil {
		s.options.Worker.Started()
	}
}

// next is where the next connection comes from: none is taken while one waits for
// a process, or they would use up the descriptors that starting it needs.
func (s *server) next() <-chan int {
	if len(s.pending) > 0 {
		return nil
	}
	return s.arrivals
}

// stopAccepting has the acceptor end: when it has taken what is in the queue, or
// when cut ends.
func (s *server) stopAccepting() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		select {
		case <-s.cut:
		case <-s.done:
		}
	}()
	go s.acceptor.Drain(ctx)
}

// launch starts processes for the connections that wait for one. When there is
// no room for another, they wait on.
func (s *server) launch(now time.Time) {
	if s.over {
		s.drop()
		return
	}
	for len(s.pending) > 0 && s.backoff.wait(now) == 0 {
		conn := s.pending[0]
		if reset(conn) {
			s.discard()
			continue
		}
		c, err := s.spawn(s.vacancy(), conn)
		if err != nil {
			s.backoff.pause(now)
			s.log.Error(err.Error(), "next_try_in", s.backoff.wait(now))
			s.pending[0] = lowest(conn)
			return
		}
		s.pending = s.pending[1:]
		sys.Close(conn)
		s.children[c.position] = c
		if s.draining {
			c.ending = true
			c.tell(msgDrain)
		}
	}
}

// lowest gives a descriptor the lowest number that is free. One that was the last
// there was can't be handed on: what a child inherits it first copies to numbers
// above all others (syscall.forkAndExecInChild), and there are none.
func lowest(fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, listenerFD)
	if err != nil {
		return fd // there is none
	}
	if n > fd {
		n, fd = fd, n
	}
	sys.Close(fd)
	return n
}

// reset says that a client has reset its connection while it waited: there is
// nobody to start a program for.
func reset(conn int) bool {
	fds := []unix.PollFd{{Fd: int32(conn)}}
	n, _ := sys.Poll(fds, 0, 0)
	return n > 0 && fds[0].Revents&unix.POLLERR != 0
}

// discard closes the first of the connections that no process has.
func (s *server) discard() {
	sys.Close(s.pending[0])
	s.pending = s.pending[1:]
	s.acceptor.Release()
}

// drop closes all of them.
func (s *server) drop() {
	for len(s.pending) > 0 {
		s.discard()
	}
}
