// Package load is the load generator: it carries a plan to a server when its
// pacer says, and counts what comes back.
//
// Each worker is one thread with an event loop, its own clients and its own
// tally. On the way of a request there is no lock, no channel and no
// allocation. The server sees ordinary connections; the generator knows
// nothing of servers but their address.
package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/plan"
)

// A Config says what [Run] does. Only URL and Plan are needed.
type Config struct {
	URL  string     // names the server: its address and Host field
	Plan bench.Plan // what is asked

	Clients  int           // connections in use at a time; 0: 10, or Requests if those are fewer
	Requests uint64        // how many in all, good and bad, the warm-up aside; 0: until Duration
	Duration time.Duration // when the last request may be due and sent; 0 without Requests: 10 s, or the ramp's length
	Warmup   time.Duration // before both: samples due in it are dropped

	// Keepalive sends more than one request over a connection: PerConn of
	// them, or any number when that is 0.
	Keepalive bool
	PerConn   int
	HTTP10    bool // send HTTP/1.0
	Pipeline  int  // requests under way on a connection; 0: 1
	// CloseFirst has the client close a connection that is done, which then
	// holds its port for a minute. Else it waits up to a second for the
	// server to do so.
	CloseFirst bool

	// ConnectAhead connections are kept ready beside those in use, so that a
	// request that needs a new one does not wait for the handshake.
	ConnectAhead int
	// ReadRate is how many bytes a second each connection is read at, by small
	// sips and with a small receive buffer, as one at the end of a slow line
	// is; 0: as fast as they come.
	ReadRate int

	// LineRate, in bits a second, is that of a line behind which each client is
	// thought to be: it asks again when the last reply could have crossed it, and
	// keeps the connection open meanwhile. 0: no such line. In a closed loop only.
	LineRate int

	// Delay is how far away the server is thought to be, there and back: a client
	// acts on each reply so much later, and on one that came by a connection of
	// its own, which had to be made, as much again. Samples are without it. In a
	// closed loop only.
	Delay time.Duration

	// Arrival is how requests come; a closed loop by default. A ramp begins
	// after the warm-up.
	Arrival pace.Arrival

	// Heads are sets of further header lines, each line ended by CRLF, sent
	// in turn: what a browser, curl or wrk would send.
	Heads [][]byte

	Timeout time.Duration // for a reply, from when its request was begun; 0: 30 s

	// HashEvery is the share of bodies whose content is checked, of the
	// classes whose content is known: the first of each class, then each one
	// up to 1 KiB, each HashEvery-th up to 64 KiB, each 16 x HashEvery-th
	// above. 0: 8. With 1, all of them.
	HashEvery int

	// Idle connections are opened before the start, each with one request
	// that is not counted, and held open beside the clients.
	Idle int
	// Sources are the local addresses connections come from, in turn. Empty:
	// the kernel's choice, except that to a loopback address many idle
	// connections, and those that the client closes first, come from several
	// of 127.0.0.0/8.
	Sources []netip.Addr

	// Log, if not nil, gets the distributions of each second in the format of
	// HdrHistogram's log.
	Log io.Writer

	Workers int   // event loops; 0: as many as there are cores, at most Clients
	CPUs    []int // the cores to pin the workers to, in turn; empty: not pinned

	// Begin and End, if not nil, are called from the goroutine that called
	// Run when the measured window begins and when it ends: whoever watches
	// the server reads its clocks then. Either may be late by what a timer is.
	Begin, End func()

	// Progress, if not nil, is called about once a second from the goroutine
	// that called Run.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Elapsed time.Duration // since the start of the run
	Warmup  bool          // still warming up
	Good    uint64        // good replies so far, the warm-up included
	Faulty  uint64        // exchanges with a fault so far
	Left    time.Duration // until the end, as it looks now; 0 when nobody can tell

	Step, Steps int // of a ladder, from 1; 0 for a single run
}

// Defaults of Config.
const (
	defaultClients   = 10
	DefaultDuration  = 10 * time.Second // of a run without a number of requests or a ramp
	defaultTimeout   = 30 * time.Second
	defaultHashEvery = 8
)

// maxUnderWay bounds the requests under way at a time, for each of which there
// is some 300 bytes of memory from the start.
const maxUnderWay = 1 << 20

// withDefaults returns the configuration with its zeros filled in, and says
// what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	if c.Requests > 0 {
		fill(&c.Clients, int(min(c.Requests, defaultClients)))
	}
	fill(&c.Clients, defaultClients)
	fill(&c.Pipeline, 1)
	fill(&c.HashEvery, defaultHashEvery)
	fill(&c.Timeout, defaultTimeout)
	if c.Requests == 0 {
		fill(&c.Duration, c.Arrival.Over)
		fill(&c.Duration, DefaultDuration)
	}
	if c.Arrival.Over > 0 {
		c.Arrival.Hold += c.Warmup
	}
	if !c.Keepalive {
		c.PerConn = 1
	}
	fill(&c.Workers, len(c.CPUs))
	fill(&c.Workers, runtime.GOMAXPROCS(0))
	c.Workers = min(c.Workers, c.Clients)
	switch {
	case c.Plan == nil || len(c.Plan.Classes()) == 0:
		return c, errors.New("load: no plan")
	case c.Clients < 0 || c.Duration < 0 || c.Warmup < 0 || c.PerConn < 0 || c.Pipeline < 0 || c.Idle < 0 || c.Timeout < 0 || c.ConnectAhead < 0 || c.ReadRate < 0 || c.LineRate < 0 || c.Delay < 0 || c.HashEvery < 0 || c.Workers < 0:
		return c, errors.New("load: a number is negative")
	case c.Pipeline > 1 && c.Pipeline > maxUnderWay/c.Clients:
		return c, fmt.Errorf("load: %d clients with %d requests under way each are too many, expected up to %d in all", c.Clients, c.Pipeline, maxUnderWay)
	case c.LineRate > 0 && (c.Arrival.Open() || c.Pipeline > 1):
		return c, errors.New("load: a line rate is for a closed loop without pipelining")
	case c.Delay > 0 && (c.Arrival.Open() || c.Pipeline > 1):
		return c, errors.New("load: a delay is for a closed loop without pipelining")
	case c.Requests > 0 && c.Requests < uint64(c.Clients):
		return c, fmt.Errorf("load: %d requests are fewer than %d clients", c.Requests, c.Clients)
	}
	if err := c.Arrival.Validate(); err != nil {
		return c, fmt.Errorf("load: %w", err)
	}
	return c, nil
}

func fill[T comparable](field *T, standard T) {
	if zero := *new(T); *field == zero {
		*field = standard
	}
}

// resolve returns the address and Host field of the server.
func (c *Config) resolve() (netip.AddrPort, string, error) {
	host, _, err := plan.SplitURL(c.URL)
	if err != nil {
		return netip.AddrPort{}, "", fmt.Errorf("load: %w", err)
	}
	address := host
	if _, _, err := net.SplitHostPort(host); err != nil {
		address = host + ":80"
	}
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return netip.AddrPort{}, "", fmt.Errorf("load: %w", err)
	}
	ip := tcp.AddrPort()
	return netip.AddrPortFrom(ip.Addr().Unmap(), ip.Port()), host, nil
}
