package weighstone

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// A Server turns connections into exchanges.
//
// It gets raw listening descriptors (bound, listening, non-blocking,
// close-on-exec) that it neither opens nor closes and never shuts down: a
// successor may be accepting on the same sockets.
type Server interface {
	// Serve accepts and answers until Drain has finished, and then returns
	// nil. It is called once. An error means that it could not go on.
	Serve(listeners []int, site *Site) error

	// Drain stops accepting, after taking what already waits in the queue,
	// and finishes what is in flight: replies say "Connection: close", idle
	// connections get a grace of one second, then are half-closed and read to
	// their end. When ctx ends first, what is left is cut off and ctx's error
	// returned.
	Drain(ctx context.Context) error

	// Stats returns the counters now.
	Stats() Stats
}

// Options are what every server is made with. The zero value serves.
type Options struct {
	Limits Limits

	// Workers is the number of loops in event variants, 0 for 1; of processes
	// at the start in process variants, 0 for the variant's own number.
	Workers int

	// Knobs are the choices within the architecture.
	Knobs Knobs

	// Position is the number of this process among those of its server, from 0:
	// its first loop takes the core of that number, if loops are pinned.
	Position int

	// Log receives what an operator must know; nil discards it.
	Log *slog.Logger

	// Slots are where the workers count, one each, in turn if there are
	// fewer; they may lie in memory shared with other processes. None means
	// that the server makes its own.
	Slots []*Slot

	// Access is told of each finished exchange; nil for no access log. In a
	// process architecture the workers have logs of their own.
	Access AccessLog

	// Worker is how a process architecture starts its processes; the others
	// do not look at it.
	Worker *WorkerCommand

	// Handover, if not nil, gives a connection to another program, when its
	// next request is for a route that is [Route.Elsewhere]. It returns only
	// if it could not, with the reason, and the connection is as it was.
	// Engines look at it that have one connection at a time.
	Handover func(Handover) error

	// Taken is a connection that another program has handed over: the server
	// is to begin with it. The same engines look at it.
	Taken *Handover
}

// A Handover is a connection on its way from one program to another, at the
// beginning of a request. It was counted as accepted.
type Handover struct {
	Conn     int    // the descriptor, the receiver's from then on
	Ahead    []byte // what was read of the connection and is not yet answered
	Answered int    // requests so far
}

// A WorkerCommand is the program that is each process of a process
// architecture. It assembles the same site, and serves what it is handed.
type WorkerCommand struct {
	Path string   // absolute, or relative to the working directory
	Args []string // its own; the server adds one behind them
	Env  []string // the whole environment, NAME=value; nil for this process's

	// Board is the scoreboard in which the processes count; nil means that
	// the server makes one. It stays the caller's.
	Board *os.File

	// Files are further descriptors that each process inherits. They stay the
	// caller's.
	Files []*os.File

	// Started, if not nil, is called once, when the first processes serve.
	Started func()
}

// An AccessLog is told of each finished exchange, by many goroutines.
type AccessLog interface {
	// Exchange records that x was answered with status and sent bytes of
	// body. x is valid during the call only.
	Exchange(x *Exchange, status int, sent int64)
}

// Limits bound what a client may take of a server. A zero field means the
// default beside it.
type Limits struct {
	Header time.Duration // 10 s: from the first byte (or the accept) to the end of the head
	Body   time.Duration // 30 s: in total from the head's end to the body's
	Write  time.Duration // 30 s: since the last byte that the client took
	Idle   time.Duration // 60 s: from a reply's last byte to the next request's first

	MaxHeader int   // 16 KiB: request line and header lines together, in bytes
	MaxBody   int64 // 64 MiB: in bytes
	MaxConns  int   // connections at a time; 0 means what the descriptor limit allows
}

// Filled returns l with its zero fields set to the defaults.
func (l Limits) Filled() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&l.Header, 10*time.Second)
	def(&l.Body, 30*time.Second)
	def(&l.Write, 30*time.Second)
	def(&l.Idle, 60*time.Second)
	if l.MaxHeader == 0 {
		l.MaxHeader = 16 << 10
	}
	if l.MaxBody == 0 {
		l.MaxBody = DefaultMaxBody
	}
	return l
}
