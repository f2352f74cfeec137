package process

import (
	"runtime"

	"github.com/weighstone/weighstone"
)

// A model is what makes one process architecture differ from the others.
type model struct {
	variant string
	engine  string // which server each worker runs
	bounds  bounds

	// shared says that each worker takes connections from all listening
	// sockets; else each has its share of them.
	shared bool

	threads int // GOMAXPROCS of a worker
}

// NewSymped makes a server of symmetric processes, each with an event loop, on
// the same listening sockets: the SYMPED of Pariag and others (EuroSys 2007).
// Options.Workers is how many; 0 means as many as there are cores.
func NewSymped(o weighstone.Options) weighstone.Server {
	n := o.Workers
	if n == 0 {
		n = runtime.NumCPU()
	}
	return newServer(o, model{variant: "symped", engine: "epoll", bounds: fixed(n), shared: true, threads: 1})
}
