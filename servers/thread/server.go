// Package thread holds the servers whose threads wait in blocking system calls:
// one thread carries one connection at a time, and nothing but how connections
// get their threads differs between them.
//
// accept.go waits for connections, conn.go for bytes. pool.go has each thread
// accept for itself, each.go starts a thread for each connection, queue.go has
// one thread accept for the others. The life of a connection is servers/flow.
package thread

import (
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/flow"
	"github.com/weighstone/weighstone/servers/wire"
)

// server is an accept policy over a crowd of flows.
type server struct {
	*flow.Crowd
	// open starts the threads that accept.
	open func([]*listener) error
	// brief is how long a read may wait without the scheduler's knowledge.
	brief time.Duration
	// taken is a connection to begin with; nil for none.
	taken *weighstone.Handover
}

// Serve accepts and answers until Drain has finished; see [weighstone.Server].
func (s *server) Serve(listeners []int, site *weighstone.Site) error {
	sys.OpenPoller()
	return s.Run(site, func() error {
		all, err := listen(listeners, s.Crowd)
		if err != nil {
			return err
		}
		return s.open(all)
	})
}

// A worker is what a thread needs to serve connections, one at a time.
type worker struct {
	flow *flow.Flow
	conn conn
}

func (s *server) newWorker() *worker {
	return &worker{flow: s.NewFlow(), conn: conn{write: s.Limits().Write, brief: s.brief}}
}

// goOn carries a connection that another program has begun through the rest of
// its life.
func (w *worker) goOn(h *weighstone.Handover) {
	w.conn.use(h.Conn)
	w.conn.ahead = h.Ahead
	peer := wire.Peer{Local: sys.LocalAddr(h.Conn), Remote: sys.RemoteAddr(h.Conn), Answered: h.Answered}
	w.flow.GoOn(&w.conn, peer, time.Now())
}

// serve carries a connection through its life.
func (w *worker) serve(a arrival) {
	w.conn.use(a.fd)
	w.flow.Serve(&w.conn, a.peer, a.at)
}
