package process

import (
	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// A model is what makes one process architecture differ from the others.
type model struct {
	variant string
	engine  string // which server each worker runs
	bounds  bounds

	// conn says that a worker is started for each connection, which the master
	// accepts, and how it gets it: connPassed or connStdio.
	conn string

	// shared says that each worker takes connections from all listening
	// sockets; else each has its share of them.
	shared bool

	threads int    // GOMAXPROCS of a worker
	debug   string // GODEBUG of a worker, before the user's own
}

// NewSymped makes a server of symmetric processes, each with an event loop, on
// the same listening sockets: the SYMPED of Pariag and others (EuroSys 2007).
// Options.Workers is how many; 0 means one for each core.
func NewSymped(o weighstone.Options) weighstone.Server {
	return newServer(o, model{variant: "symped", engine: defaultEngine, bounds: fixed(orCores(o.Workers)), shared: true, threads: 1})
}

// NewPreforkReuseport makes a server of processes that each run a server of
// another kind, Knobs.Engine, on a listening socket of their own. There should
// be as many of these sockets as processes (SO_REUSEPORT): if there are more,
// a process has several, and if there are fewer, processes share them.
// Options.Workers is how many processes; 0 means one for each core.
func NewPreforkReuseport(o weighstone.Options) weighstone.Server {
	engine := o.Knobs.Engine
	if engine == "" {
		engine = defaultEngine
	}
	return newServer(o, model{variant: "prefork-reuseport", engine: engine, bounds: fixed(orCores(o.Workers)), threads: 1})
}

// defaultEngine is what processes are that are nothing in particular.
const defaultEngine = "epoll"

// orCores is n, or for 0 as many as there are cores.
func orCores(n int) int {
	if n == 0 {
		return len(sys.Cores())
	}
	return n
}
