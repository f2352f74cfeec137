package thread

import (
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/flow"
	"github.com/weighstone/weighstone/servers/wire"
)

// given serves one connection.
type given struct{ server }

// NewGiven makes the server of a process that was started for one connection:
// Serve gets its descriptor, a blocking one, where others get listening sockets,
// or none if it is Options.Taken; it closes it, and returns.
func NewGiven(o weighstone.Options) weighstone.Server {
	g := &given{}
	g.Crowd = flow.NewCrowd(o, 1, false)
	g.brief = soleBrief // see NewSole
	g.taken = o.Taken
	return g
}

// Serve carries the connection through its life.
func (g *given) Serve(conns []int, site *weighstone.Site) error {
	return g.Run(site, func() error {
		if g.taken != nil {
			g.carry(func(w *worker) { w.goOn(g.taken) })
		}
		for _, fd := range conns {
			peer := wire.Peer{Local: sys.LocalAddr(fd), Remote: sys.RemoteAddr(fd)}
			g.carry(func(w *worker) { w.serve(arrival{fd: fd, peer: peer, at: time.Now()}) })
		}
		return nil
	})
}

// carry has a worker carry a connection.
func (g *given) carry(carry func(*worker)) {
	g.Go(func() {
		w := g.newWorker()
		defer w.conn.free()
		carry(w)
	})
}
