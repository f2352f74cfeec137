package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// An Engine is how a kind of server is made.
type Engine struct {
	Name  string
	New   func(weighstone.Options) weighstone.Server
	Procs int // what the program adds to GOMAXPROCS for it

	// Alone says that it serves one connection at a time and closes it behind its
	// first reply: others are queued, and then served.
	Alone bool
}

// A Server is one that runs in this process, until its test ends.
type Server struct {
	weighstone.Server
	Engine Engine
	Addr   string // host:port

	t      testing.TB
	base   *Base
	fd     int
	served chan error
	ended  bool
}

// Dial connects to the server.
func (s *Server) Dial(t testing.TB) *Client {
	t.Helper()
	return DialEngine(t, s.Engine, s.Addr)
}

// drainLimit is how long a server may take to finish what its test has left.
const drainLimit = time.Minute

// Start runs a server of kind e on a free port of the loopback. At the test's
// end it is drained, which must succeed, and whatever it holds must be gone
// then: goroutines, descriptors, children.
func Start(t testing.TB, e Engine, site *weighstone.Site, o weighstone.Options) *Server {
	t.Helper()
	base := NewBase(t)
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Server: e.New(o), Engine: e, Addr: sys.LocalAddr(fd).String(),
		t: t, base: base, fd: fd, served: make(chan error, 1),
	}
	go func() { s.served <- s.Serve([]int{fd}, site) }()
	t.Cleanup(s.Stop)
	return s
}

// Stop drains the server now, and fails the test when that does not end well.
func (s *Server) Stop() {
	if s.ended {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	s.StopWithin(ctx)
}

// StopWithin is Stop with a limit of the caller's.
func (s *Server) StopWithin(ctx context.Context) {
	s.t.Helper()
	s.ended = true
	if err := s.Drain(ctx); err != nil {
		s.t.Errorf("drain: %v", err)
	}
	if err := <-s.served; err != nil {
		s.t.Errorf("serve: %v", err)
	}
	sys.Close(s.fd)
	s.base.Check()
}
