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
// closes it, and returns.
func NewGiven(o weighstone.Options) weighstone.Server {
	g := &given{}
	g.Crowd = flow.NewCrowd(o, 1, false)
	g.brief = soleBrief // see NewSole
	return g
}

// Serve carries the connection through its life.
func (g *given) Serve(conns []int, site *weighstone.Site) error {
	return g.Run(site, func() error {
		for _, fd := range conns {
			g.Go(func() {
				w := g.newWorker()
				defer w.conn.free()
				w.serve(arrival{fd: fd, peer: wire.Peer{Local: sys.LocalAddr(fd), Remote: sys.RemoteAddr(fd)}, at: time.Now()})
			})
		}
		return nil
	})
}
