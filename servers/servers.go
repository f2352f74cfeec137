// Package servers is the table of all variants: each a server architecture
// under a name.
package servers

import (
	"fmt"
	"strings"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/uring"
	"github.com/weighstone/weighstone/servers/fast"
	"github.com/weighstone/weighstone/servers/fiber"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/process"
	"github.com/weighstone/weighstone/servers/std"
)

// A Family is a way to do more than one thing at a time.
type Family string

// The families.
const (
	// Goroutine: a goroutine for each connection, on the Go scheduler.
	Goroutine Family = "goroutine"
	// Event: loops that wait for readiness on all of their connections.
	Event Family = "event"
	// Completion: loops that are told what the kernel has done for them.
	Completion Family = "completion"
	// Process: a master, and processes that serve.
	Process Family = "process"
	// Thread: threads that wait in blocking system calls.
	Thread Family = "thread"
)

// A Concurrent is how many connections a variant serves at a time.
type Concurrent string

// The bounds of concurrency.
const (
	One       Concurrent = "1"
	Workers   Concurrent = "N" // as many as it has workers
	Unlimited Concurrent = "unlimited"
)

// A Variant is one row of the table.
type Variant struct {
	Name        string     `json:"name"`
	Family      Family     `json:"family"`
	Accept      string     `json:"accept"`      // who takes connections from the queue
	Dispatch    string     `json:"dispatch"`    // how it learns that one is ready
	Concurrency string     `json:"concurrency"` // what a connection has of its own
	Concurrent  Concurrent `json:"concurrent"`
	Keepalive   bool       `json:"keepalive"`
	Historical  []string   `json:"historical"` // servers that were built so
	Knobs       []string   `json:"knobs"`      // flags of serve that it has, each "--flag: what it is here"

	// MaxConns is how many connections the architecture can hold, 0 for no
	// bound of its own; Bound says why.
	MaxConns int    `json:"max_conns,omitempty"`
	Bound    string `json:"bound,omitempty"`

	// Caches says that there are replies kept, which EmptyCache of the server
	// forgets.
	Caches bool `json:"-"`

	// Sockets says that each worker of a process variant has a listening socket
	// of its own; loops always do.
	Sockets bool `json:"-"`

	// Acceptor says that one more thread accepts for all workers, from one
	// listening socket.
	Acceptor bool `json:"-"`

	// PerCore says that there is a worker for each core unless told otherwise.
	PerCore bool `json:"-"`

	// Blocks says that each worker waits in a system call that keeps a share
	// of GOMAXPROCS, so that goroutines beside it need one more.
	Blocks bool `json:"-"`

	// Probe says why this machine can't run the variant, nil if it can. A nil
	// function means that every machine can.
	Probe func() error `json:"-"`

	// Procs says how many threads at most wait in system calls that keep a share
	// of GOMAXPROCS each; nil for none. Start says how many workers there are at
	// the start when --workers is given, or 0; nil leaves that to the family.
	Procs, Start func(workers int, k weighstone.Knobs) int `json:"-"`

	New func(weighstone.Options) weighstone.Server `json:"-"`
}

// All returns the variants in the order in which to show them.
func All() []Variant {
	all := append(table(), blocking()...)
	for i := range all {
		all[i].Knobs = append(all[i].Knobs, common()...)
		if all[i].Family != Process {
			all[i].Knobs = append(all[i].Knobs, ofOneProcess()...)
		}
	}
	return all
}

// ofOneProcess are the knobs that need the connections to be in one process:
// what it knows of the others' is a sum.
func ofOneProcess() []string {
	return []string{
		"--conns-per-addr: N: connections of one client address; those above are closed at accept and counted",
	}
}

// common are the knobs that every variant has.
func common() []string {
	return []string{
		"--no-keep-alive: each connection is closed after its first reply",
		"--requests-per-conn: N: each connection is closed after so many replies",
		"--file-cache: none, descriptor (files stay open), memory (files up to 64 KiB; this is what is meant without the flag, but for --send write, sendfile and mmap, which keep none)",
		"--override-files: NAME: a file looked for in every directory along the path of every request; one with directives is answered 500",
		"--access-log-format: common or combined",
		"--access-log-buffer: bytes of lines that wait to be written together, a second at most; 0 for a write each",
		"--defer-accept: the kernel holds a connection back until its first bytes are there (TCP_DEFER_ACCEPT)",
	}
}

// ofLoops are the knobs of every event loop, ofEpoll those of one that waits by
// epoll.
func ofLoops(more ...string) []string { return append(more, acceptBatch, send) }

func ofEpoll(more ...string) []string { return append(waitingByEpoll(more...), send) }

// waitingByEpoll are those of an event loop whose files leave in a way of its own.
func waitingByEpoll(more ...string) []string {
	return append(more, acceptBatch,
		"--edge: each readiness is told once (EPOLLET); accept, read and write go on until they would block",
		"--epoll-ctl: change (one call when what is waited for changes), or naive (one at every change of a connection's state, as in 2005)",
	)
}

const (
	acceptBatch = "--accept-batch: N or all: connections taken at one event (64)"
	send        = "--send: how files leave: write (read and written), sendfile, cork (head and body in calls of their own, between TCP_CORK), mmap (written from a mapping)"
	pin         = "--pin: each loop has a thread that is bound to a core of its own"
)

// table holds the rows, with the knobs that each has of its own.
func table() []Variant {
	return []Variant{
		{
			Name: "nethttp", Family: Goroutine,
			Accept: "a goroutine for each listener", Dispatch: "the Go runtime's epoll", Concurrency: "a goroutine",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Go net/http (2009)", "Caddy (2015)"},
			Knobs:      []string{"--workers: GOMAXPROCS"},
			New:        std.New,
		},
		{
			Name: "fasthttp", Family: Goroutine,
			Accept: "a goroutine for each listener", Dispatch: "the Go runtime's epoll", Concurrency: "a goroutine of a pool, last used first",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"fasthttp (2015)"},
			Knobs:      []string{"--workers: GOMAXPROCS"},
			New:        fast.New,
		},
		{
			Name: "fiber", Family: Goroutine,
			Accept: "a goroutine for each listener", Dispatch: "the Go runtime's epoll", Concurrency: "a goroutine of a pool, and a router's context",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Fiber (2020)", "Express (2010) in its manner of routing"},
			Knobs:      []string{"--workers: GOMAXPROCS"},
			New:        fiber.New,
		},
		{
			Name: "epoll", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "epoll", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"lighttpd (2003)", "nginx (2004)", "Cherokee (2001)", "h2o (2014)"},
			Knobs:      ofEpoll("--workers: loops, a SO_REUSEPORT listener for each", pin, "--exclusive: all loops wait on one listening socket, and one is woken (EPOLLEXCLUSIVE)"),
			New:        loop.NewEpoll,
		},
		{
			Name: "poll", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "poll", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"mathopd (1996)", "thttpd (1998, where there is poll)", "Zeus (1995)", "lighttpd (2003, with poll)"},
			Knobs:      ofLoops("--workers: loops, a SO_REUSEPORT listener for each", pin),
			Blocks:     true,
			New:        loop.NewPoll,
		},
		{
			Name: "select", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "select", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Boa (1995)", "thttpd (1998, where there is no poll)", "Zeus (1995, at first)"},
			Knobs:      ofLoops("--workers: loops, a SO_REUSEPORT listener for each", pin),
			MaxConns:   loop.MaxSelectConns,
			Bound:      fmt.Sprintf("the sets of select(2) have room for descriptors below %d (FD_SETSIZE), of which some are no connections", sys.SetSize),
			Blocks:     true,
			New:        loop.NewSelect,
		},
		{
			Name: "percore", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "epoll", Concurrency: "a state in the table of its core's loop",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Seastar (2014)", "libreactor (2016)", "h2o (2014)"},
			Knobs:      ofEpoll("--workers: loops, a SO_REUSEPORT listener and a core for each; by default as many as there are cores"),
			PerCore:    true,
			New:        loop.NewPerCore,
		},
		{
			Name: "reactors", Family: Event,
			Accept: "a loop of its own, which hands connections to the others in turn", Dispatch: "epoll", Concurrency: "a state in the table of the loop that got it",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"memcached (2006, with threads)", "Netty (2004)", "muduo (2010)"},
			Knobs:      ofEpoll("--workers: loops beside the one that accepts; by default as many as there are cores", pin),
			PerCore:    true,
			Acceptor:   true,
			New:        loop.NewReactors,
		},
		{
			Name: "amped", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "epoll; helper threads for files that are not in memory", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Flash (1999)", "nginx (2015, with aio threads)", "Squid (1999, with diskd)"},
			Knobs: waitingByEpoll("--workers: loops, a SO_REUSEPORT listener for each", pin,
				"--exclusive: all loops wait on one listening socket, and one is woken (EPOLLEXCLUSIVE)",
				fmt.Sprintf("--helpers: threads that read files, by default %d", loop.DefaultHelpers)),
			Procs: func(_ int, k weighstone.Knobs) int { return loop.HelpersOf(k) },
			New:   loop.NewAmped,
		},
		{
			Name: "staged", Family: Event,
			Accept: "a stage of its own, which hands connections to the loops that read", Dispatch: "epoll where they read; then a queue before each stage: parse, handle, send", Concurrency: "an event on its way from queue to queue",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Haboob on Sandstorm (SEDA, 2001)", "Mule (2003)", "Apache Cassandra (2008, in its stages)"},
			Knobs: []string{
				"--workers: loops that wait for connections and read, beside the one that accepts (1)", pin, acceptBatch,
				fmt.Sprintf("--queue: events that may wait before a stage, by default %d; a request that finds it full is answered 503", loop.DefaultQueue),
				fmt.Sprintf("--max-workers: most threads of a stage, by default %d; the controller starts with one", loop.DefaultThreads),
			},
			Acceptor: true,
			Procs:    func(workers int, _ weighstone.Knobs) int { return workers + loop.Stages },
			New:      loop.NewStaged,
		},
		{
			Name: "accel", Family: Event,
			Accept: "the loop that will serve it", Dispatch: "epoll, and a cache of complete replies before the routes", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"TUX (2000)", "Solaris NCA (1999)", "http.sys (2003)", "Varnish (2006)"},
			Knobs:      ofEpoll("--workers: loops, a SO_REUSEPORT listener and a cache for each", pin),
			Caches:     true,
			New:        loop.NewAccel,
		},
		{
			Name: "uring", Family: Completion,
			Accept: "the kernel, for the loop that asked once (multishot)", Dispatch: "io_uring: completions", Concurrency: "a state in the loop's table",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"IIS (1996, by completion ports)", "Seastar (2022, with io_uring)"},
			Knobs:      []string{"--workers: loops, a ring and a SO_REUSEPORT listener for each", pin},
			Blocks:     true,
			Probe:      uring.Supported,
			New:        loop.NewUring,
		},
		{
			Name: "prefork", Family: Process,
			Accept: "each process, from one shared socket", Dispatch: "none: the process blocks", Concurrency: "a process, from a pool that grows and shrinks",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"NCSA httpd 1.4 (1995)", "Netscape Commerce (1995)", "Apache 1.3 and 2.x prefork (1998)"},
			Knobs:      process.PreforkKnobs(),
			New:        process.NewPrefork,
		},
		{
			Name: "fork", Family: Process,
			Accept: "the master", Dispatch: "none: the process blocks", Concurrency: "a process, started for it",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"CERN httpd (1990)", "NCSA httpd 1.3 (1994)"},
			Knobs:      process.ForkKnobs(),
			New:        process.NewFork,
		},
		{
			Name: "inetd", Family: Process,
			Accept: "the master", Dispatch: "none: the process blocks", Concurrency: "a program, run for it with the connection as its input and output",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"servers under inetd(8) (1986)", "Apache 1.3 with ServerType inetd (1998)", "micro_httpd (1999)"},
			Knobs:      process.ForkKnobs(),
			New:        process.NewInetd,
		},
		{
			Name: "symped", Family: Process,
			Accept: "the loop of any process, from one shared socket", Dispatch: "epoll", Concurrency: "a state in the table of its process's loop",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"nginx (2004) without accept_mutex", "Zeus (1995)", "lighttpd (2003) with server.max-worker"},
			Knobs: ofEpoll("--workers: processes, by default as many as there are cores",
				"--pin: the loop of each process has a thread that is bound to a core of its own",
				"--exclusive: a connection wakes one process, not all (EPOLLEXCLUSIVE)"),
			PerCore: true,
			New:     process.NewSymped,
		},
		{
			Name: "prefork-reuseport", Family: Process,
			Accept: "each process, from a SO_REUSEPORT socket of its own", Dispatch: "the engine's own", Concurrency: "what the engine gives it",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"nginx (2015, with reuseport)", "fasthttp and Fiber (with prefork)", "Envoy (2016, by threads)"},
			Knobs: []string{
				"--workers: processes, a socket for each; by default as many as there are cores",
				"--engine: what each process is: epoll (the default), nethttp, fasthttp or fiber",
			},
			PerCore: true,
			Sockets: true,
			New:     process.NewPreforkReuseport,
		},
	}
}

// Runs says why this machine can't run the variant, nil if it can.
func (v *Variant) Runs() error {
	if v.Probe == nil {
		return nil
	}
	if err := v.Probe(); err != nil {
		return fmt.Errorf("%s can't run here: %w", v.Name, err)
	}
	return nil
}

// Loops says whether the workers of the variant are loops, each with a listener.
func (v *Variant) Loops() bool { return v.Family == Event || v.Family == Completion }

// Has says whether the variant has the knob of a flag, given as "--flag".
func (v *Variant) Has(flag string) bool {
	for _, k := range v.Knobs {
		if name, _, _ := strings.Cut(k, ":"); name == flag {
			return true
		}
	}
	return false
}

// Find returns the variant of a name.
func Find(name string) (Variant, error) {
	var names []string
	for _, v := range All() {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("no variant %q: there are %s", name, strings.Join(names, ", "))
}
