package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi/keeper"
	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/internal/accesslog"
	"github.com/weighstone/weighstone/internal/admin"
	"github.com/weighstone/weighstone/internal/handoff"
	"github.com/weighstone/weighstone/internal/scoreboard"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers"
)

type serveCmd struct {
	Variant string `arg:"" help:"The architecture; see weighstone variants."`

	Addr    string `default:"127.0.0.1:8080" help:"Where to listen: host:port; port 0 for any."`
	Workers int    `placeholder:"N" help:"Loops of an event variant, GOMAXPROCS of a goroutine variant, threads of a pool at its start."`
	Backlog int    `placeholder:"N" help:"Length of the accept queue; the kernel caps it at net.core.somaxconn."`

	Admin           string `placeholder:"ADDR" help:"Answer operators there too: /health, /metrics for Prometheus, /debug/pprof/."`
	AccessLog       string `placeholder:"FILE|-" help:"Log requests to FILE, or with - to stderr. SIGUSR1 reopens it."`
	AccessLogFormat string `enum:"common,combined" default:"common" placeholder:"common|combined" help:"Format of the access log."`
	AccessLogBuffer size   `default:"64KiB" help:"Lines of the access log that wait to be written together, a second at most; 0 for none."`
	Fixtures        string `placeholder:"DIR" help:"The content; written there if it is empty or absent. By default in the user's cache."`
	PIDFile         string `name:"pid-file" placeholder:"FILE" help:"Name the serving process in FILE."`
	Root            string `placeholder:"DIR" help:"Serve the files of DIR too, before the built-in ones."`
	CGIBin          string `name:"cgi-bin" placeholder:"DIR" help:"Run the programs of DIR too, before the built-in ones."`

	HeaderTimeout time.Duration `default:"10s" help:"From the first byte to the end of the head."`
	BodyTimeout   time.Duration `default:"30s" help:"From the end of the head to that of the body."`
	WriteTimeout  time.Duration `default:"30s" help:"Since the client took the last byte."`
	IdleTimeout   time.Duration `default:"60s" help:"From a reply to the next request."`
	CGITimeout    time.Duration `name:"cgi-timeout" default:"30s" help:"Life of a CGI program, and of a request to an application."`
	MaxHeader     size          `default:"16KiB" help:"Request line and header lines together."`
	MaxBody       size          `default:"64MiB" help:"Body of a request."`
	MaxConns      int           `placeholder:"N" help:"Connections at a time; by default what the descriptor limit allows."`
	FileMemory    size          `default:"64MiB" help:"What files in memory may take in all (see --file-cache); the others leave from disk."`
	FileMemoryMax size          `default:"64KiB" help:"The largest file that is kept in memory."`
	Drain         time.Duration `default:"10s" help:"How long what is in flight may take to finish at the end."`

	Ballast size `placeholder:"SIZE" help:"Hold so much touched memory in each serving process, as one with large caches does: for measuring what starting programs costs then."`

	Apps appFlags `embed:"" group:"Applications behind FastCGI and SCGI:"`

	Inside  insideFlags  `embed:""`
	Specweb specwebFlags `embed:"" group:"The SPECweb99-style workload:"`
	Knobs   knobFlags    `embed:"" group:"Knobs, which weighstone variants NAME lists:"`
}

// Validate refuses what no value of a flag can mean.
func (c *serveCmd) Validate() error {
	for name, bad := range map[string]bool{
		"--workers": c.Workers < 0, "--backlog": c.Backlog < 0, "--max-conns": c.MaxConns < 0,
		"--requests-per-conn": c.Knobs.RequestsPerConn < 0, "--conns-per-addr": c.Knobs.ConnsPerAddr < 0,
		"--min-workers": c.Knobs.MinWorkers < 0, "--max-workers": c.Knobs.MaxWorkers < 0, "--queue": c.Knobs.Queue < 0, "--helpers": c.Knobs.Helpers < 0,
		"--min-spare": c.Knobs.MinSpare < 0, "--max-spare": c.Knobs.MaxSpare < 0,
		"--drain": c.Drain < 0, "--max-header": c.MaxHeader < 1,
		"--file-memory": c.FileMemory < 1, "--file-memory-max": c.FileMemoryMax < 1,
		"--header-timeout": c.HeaderTimeout <= 0, "--body-timeout": c.BodyTimeout <= 0, "--write-timeout": c.WriteTimeout <= 0,
		"--idle-timeout": c.IdleTimeout <= 0, "--cgi-timeout": c.CGITimeout <= 0,
		"--script-timeout": c.Inside.ScriptTimeout <= 0, "--script-memory": c.Inside.ScriptMemory < 1,
	} {
		if bad {
			return fmt.Errorf("%s: the value is too small", name)
		}
	}
	for name, n := range map[string]int{"--workers": c.Workers, "--min-workers": c.Knobs.MinWorkers, "--max-workers": c.Knobs.MaxWorkers} {
		if n > maxWorkers {
			return fmt.Errorf("%s: the value is too large: there may be %d", name, maxWorkers)
		}
	}
	if err := c.Knobs.checkPool(c.Workers); err != nil {
		return err
	}
	if err := c.Knobs.checkOverride(); err != nil {
		return err
	}
	if err := checkAddr("--addr", c.Addr); err != nil {
		return err
	}
	if c.Admin != "" {
		if err := checkAddr("--admin", c.Admin); err != nil {
			return err
		}
	}
	if err := c.Specweb.check(c.Variant); err != nil {
		return err
	}
	return c.Apps.check()
}

// maxWorkers bounds what a machine could have as processes: 32,768 process ids,
// of which a successor needs as many.
const maxWorkers = 10_000

// accessLog is the access log as asked for.
func (c *serveCmd) accessLog() accesslog.Options {
	o := accesslog.Options{Name: c.AccessLog, Combined: c.AccessLogFormat == "combined", Buffer: int(c.AccessLogBuffer)}
	if o.Buffer == 0 {
		o.Buffer = -1
	}
	return o
}

// A service is one serving process with what it owns.
type service struct {
	cmd       *serveCmd
	variant   servers.Variant
	log       *slog.Logger
	handoff   *handoff.Handoff
	board     *scoreboard.Board
	about     site.Config    // what the site is of
	posts     *os.File       // the log of POSTs that all processes open
	content   *site.Content  // nil in the master of processes
	helper    *keeper.Keeper // nil where the program is missing
	access    *accesslog.Log
	listeners []int
	server    weighstone.Server
	started   chan struct{} // closed when the first processes serve; nil where there are none
	serving   bool          // the server has begun and not ended
	draining  atomic.Bool
	admin     *admin.Server // nil without --admin
	admins    []int         // its listening socket
}

// Run serves until it is told to end, or a successor serves.
func (c *serveCmd) Run(s *streams) error {
	variant, err := servers.Find(c.Variant)
	if err != nil {
		return usageError{err}
	}
	if err := c.Knobs.check(&variant, c.Workers); err != nil {
		return usageError{err}
	}
	if err := variant.Runs(); err != nil {
		return err
	}
	if variant.MaxConns > 0 && c.MaxConns > variant.MaxConns {
		return usageError{fmt.Errorf("%s holds at most %d connections, not --max-conns %d: %s", variant.Name, variant.MaxConns, c.MaxConns, variant.Bound)}
	}
	s.err = sys.Outlive(s.err)
	signals := catchSignals()
	defer signals.stop()
	v := &service{cmd: c, variant: variant, log: s.log()}
	defer v.close()
	if err := v.prepare(s); err != nil {
		return err
	}
	served := make(chan error, 1)
	if err := v.begin(served); err != nil {
		return err
	}
	if err := v.openAdmin(); err != nil {
		return err
	}
	if v.handoff.Inherited() {
		v.board.Restarted()
	}
	if err := v.handoff.Ready(); err != nil {
		return err
	}
	if err := v.announce(s); err != nil {
		return err
	}
	return v.attend(signals, served)
}

// begin makes the server serve. Of processes it waits for the first ones: if
// these can't live, a predecessor should go on.
func (v *service) begin(served chan error) error {
	v.serving = true
	var content *weighstone.Site
	if v.content != nil {
		content = v.content.Site
	}
	go func() { served <- v.server.Serve(v.listeners, content) }()
	if v.started == nil {
		return nil
	}
	select {
	case <-v.started:
		return nil
	case err := <-served:
		v.serving = false
		return err
	}
}

// prepare gets together all that serving takes, and begins nothing.
func (v *service) prepare(s *streams) (err error) {
	c := v.cmd
	if _, err := sys.RaiseNoFile(); err != nil {
		v.log.Warn("the descriptor limit stays as it is", "error", err)
	}
	workers := v.schedule()
	if v.handoff, err = handoff.New(handoff.Options{PIDFile: c.PIDFile, Log: v.log}); err != nil {
		return err
	}
	if v.board, err = v.openBoard(boardSlots(max(workers, c.Workers, c.Knobs.MaxWorkers, c.Knobs.MinWorkers))); err != nil {
		return err
	}
	if err := v.openPosts(); err != nil {
		return err
	}
	if err := v.assemble(); err != nil {
		return err
	}
	if c.AccessLog != "" && v.variant.Family != servers.Process {
		if v.access, err = accesslog.Open(c.accessLog(), s.err, v.log); err != nil {
			return err
		}
	}
	if v.listeners, err = v.listen(workers); err != nil {
		return err
	}
	o := v.options()
	if v.variant.Family == servers.Process {
		o.Workers = workers
		o.Worker, err = v.workerCommand()
	} else {
		o.Workers = max(workers, len(v.listeners))
		o.Slots, err = v.board.Claim(o.Workers)
	}
	if err != nil {
		return err
	}
	v.server = v.variant.New(o)
	return nil
}

// options are what a server of any kind is made with.
func (v *service) options() weighstone.Options {
	c := v.cmd
	o := weighstone.Options{
		Limits: weighstone.Limits{
			Header: c.HeaderTimeout, Body: c.BodyTimeout, Write: c.WriteTimeout, Idle: c.IdleTimeout,
			MaxHeader: int(c.MaxHeader), MaxBody: int64(c.MaxBody), MaxConns: c.MaxConns,
		},
		Knobs: c.Knobs.knobs(),
		Log:   v.log,
	}
	if v.access != nil {
		o.Access = v.access
	}
	return o
}

// schedule gives the Go scheduler what the variant needs, and returns how many
// workers there are.
func (v *service) schedule() int {
	cores, workers := runtime.GOMAXPROCS(0), v.cmd.Workers
	if workers == 0 && v.variant.PerCore {
		workers = len(sys.Cores())
	}
	if v.variant.Family == servers.Process {
		return workers // the master serves nothing
	}
	if v.variant.Loops() {
		workers = max(workers, 1)
		if v.variant.Blocks || v.variant.Acceptor {
			runtime.GOMAXPROCS(max(cores, workers+1))
		}
		if v.variant.Procs != nil {
			runtime.GOMAXPROCS(cores + v.variant.Procs(workers, v.cmd.Knobs.knobs()))
		}
		return workers
	}
	if v.variant.Procs != nil {
		// A thread that waits in a system call keeps its share: without one for
		// each they would hand it about, at twice the price of a request.
		knobs := v.cmd.Knobs.knobs()
		runtime.GOMAXPROCS(cores + v.variant.Procs(workers, knobs))
		if v.variant.Start != nil {
			return v.variant.Start(workers, knobs)
		}
		return cores
	}
	if workers > 0 {
		runtime.GOMAXPROCS(workers)
		return workers
	}
	return cores
}

// boardSlots is room for so many workers, for those of a successor, and of a
// predecessor that still drains. A successor has the flags of its predecessor.
func boardSlots(workers int) int { return max(3*workers, scoreboard.DefaultSlots) }

// openBoard takes over the counters of a predecessor, or begins new ones.
func (v *service) openBoard(slots int) (*scoreboard.Board, error) {
	file, err := v.handoff.File(boardName)
	if err != nil {
		return nil, err
	}
	var board *scoreboard.Board
	if file != nil {
		if board, err = scoreboard.Open(file); err != nil {
			v.log.Warn("the counters begin anew", "error", err)
		}
	}
	if board == nil {
		if board, err = scoreboard.New(slots); err != nil {
			return nil, err
		}
	}
	v.handoff.Share(boardName, int(board.File().Fd()))
	return board, nil
}

// What descriptors are called in the hand-over.
const (
	boardName    = "scoreboard"
	postsName    = "posts"
	listenerName = "http"
)

// close gives back what is held when the process is about to end. A server
// that was cut off still counts and answers: what it uses is left to the
// kernel.
func (v *service) close() {
	v.closeAdmin()
	if v.access != nil {
		v.complain(v.access.Close())
	}
	if v.content != nil {
		v.complain(v.content.EndPrograms())
	}
	if v.helper != nil {
		v.complain(v.helper.Close())
	}
	if v.handoff != nil {
		v.handoff.RemovePIDFile()
	}
	if v.serving {
		return
	}
	if v.content != nil {
		v.complain(v.content.Close())
	}
	for _, fd := range v.listeners {
		sys.Close(fd)
	}
	if v.posts != nil {
		v.complain(v.posts.Close())
	}
	if v.board != nil {
		v.complain(v.board.Close())
	}
}

// complain logs what went wrong at the end, if anything did.
func (v *service) complain(err error) {
	if err != nil {
		v.log.Error(err.Error())
	}
}
