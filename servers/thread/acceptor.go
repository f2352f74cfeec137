package thread

import (
	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/flow"
)

// An Acceptor is the accepting half of a server with a thread for each
// connection: somebody else serves them. Its Serve takes connections, no more
// than Limits.MaxConns at a time, and its Drain ends that when what was in the
// queue is taken.
type Acceptor struct{ each }

// NewAcceptor makes an acceptor. hand gets each connection, a blocking
// descriptor that is its own from then on, on the thread that accepts.
func NewAcceptor(o weighstone.Options, hand func(conn int)) *Acceptor {
	a := &Acceptor{}
	a.Crowd = flow.NewCrowd(o, 1, true)
	a.hand = func(x arrival) { hand(x.fd) }
	a.open = a.start
	return a
}

// Release says that a connection has ended, and so makes room for another.
func (a *Acceptor) Release() { a.Dismiss() }
