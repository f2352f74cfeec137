package servers

import (
	"fmt"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/goroutine"
	"github.com/weighstone/weighstone/servers/thread"
)

// threadShares is for how many threads of one for each connection there is a
// share of GOMAXPROCS each.
const threadShares = 256

// blocking are the rows of the servers in which each connection has a flow of
// control of its own, which waits for it.
func blocking() []Variant {
	return []Variant{
		{
			Name: "goroutine", Family: Goroutine,
			Accept: "a goroutine for each listener", Dispatch: "the Go runtime's epoll", Concurrency: "a goroutine",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Yaws (2002, Erlang processes)", "Capriccio's Knot (2003)", "State Threads (1999)"},
			Knobs:      []string{"--workers: GOMAXPROCS"},
			New:        goroutine.New,
		},
		{
			Name: "thread-pool", Family: Thread,
			Accept: "each thread of the pool", Dispatch: "none: the thread blocks", Concurrency: "a thread of a pool that grows and shrinks",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"IIS (1995)", "JAWS (1997)", "Netscape Enterprise 2 (1996)"},
			Knobs: []string{
				fmt.Sprintf("--workers: threads at the start, by default %d", thread.DefaultWorkers),
				"--min-workers: least number of threads, by default as many as at the start",
				"--max-workers: largest number of threads, by default twice as many as at the start",
			},
			Procs: func(workers int, k weighstone.Knobs) int { return thread.PoolSize(workers, k).Max },
			Start: func(workers int, k weighstone.Knobs) int { return thread.PoolSize(workers, k).Initial },
			New:   thread.NewPool,
		},
		{
			Name: "threads", Family: Thread,
			Accept: "one thread", Dispatch: "none: the thread blocks", Concurrency: "a thread, started for it",
			Concurrent: Unlimited, Keepalive: true,
			Historical: []string{"Java servers before NIO (1996)", "Roxen (1996)", "WEBrick (2003)"},
			MaxConns:   thread.MaxThreads,
			Bound:      "Go ends a program that has 10,000 threads, and a successor and programs need theirs",
			Procs:      func(int, weighstone.Knobs) int { return threadShares },
			New:        thread.NewEach,
		},
		{
			Name: "acceptor-queue", Family: Thread,
			Accept: "one thread, into a bounded queue", Dispatch: "none: the thread blocks", Concurrency: "a thread of a pool",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"AOLserver (1995)", "Netscape Enterprise 3 (1997)", "Domino (1996)", "Apache worker (2002)"},
			Knobs: []string{
				fmt.Sprintf("--workers: threads of the pool, by default %d", thread.DefaultWorkers),
				fmt.Sprintf("--queue: accepted connections that may wait for a thread, by default %d; when it is full the acceptor stops accepting", thread.DefaultQueue),
			},
			Procs: func(workers int, _ weighstone.Knobs) int { return thread.QueueWorkers(workers) + 1 },
			Start: func(workers int, _ weighstone.Knobs) int { return thread.QueueWorkers(workers) },
			New:   thread.NewQueue,
		},
		{
			Name: "event-mpm", Family: Thread,
			Accept: "the poller, one thread", Dispatch: "epoll for the idle; else none: the thread blocks", Concurrency: "a thread of a pool for the time of a request",
			Concurrent: Workers, Keepalive: true,
			Historical: []string{"Apache event (2005)"},
			Knobs: []string{
				fmt.Sprintf("--workers: threads of the pool, by default %d; the poller is one more", thread.DefaultWorkers),
				fmt.Sprintf("--queue: connections with a request that may wait for a thread, by default %d, before no more are accepted", thread.DefaultQueue),
				acceptBatch,
			},
			Procs: func(workers int, _ weighstone.Knobs) int { return thread.QueueWorkers(workers) + 1 },
			Start: func(workers int, _ weighstone.Knobs) int { return thread.QueueWorkers(workers) },
			New:   thread.NewEvent,
		},
		{
			Name: "iterative", Family: Thread,
			Accept: "the one thread", Dispatch: "none: the thread blocks", Concurrency: "none: one connection at a time, closed behind its reply",
			Concurrent: One, Keepalive: false,
			Historical: []string{"the textbook's first server (Stevens 1990)"},
			Procs:      func(int, weighstone.Knobs) int { return 1 },
			Start:      func(int, weighstone.Knobs) int { return 1 },
			New:        thread.NewIterative,
		},
	}
}
