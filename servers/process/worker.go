package process

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/scoreboard"
)

// A Worker is this process as one worker of a master. It has no end but the
// process's.
type Worker struct {
	Config Config
	Board  *scoreboard.Board
	Files  []*os.File // of weighstone.WorkerCommand.Files
	slot   *weighstone.Slot
	taken  *weighstone.Handover // from the program that this process was before; nil for none

	mu   sync.Mutex // held while the master is heeded, and while the process becomes another program
	said []byte     // what the master has said that goes on to hold
}

// Inherit takes over what the master has handed on. arg is the last argument
// of the command line.
func Inherit(arg string) (*Worker, error) {
	config, err := parseConfig(arg)
	if err != nil {
		return nil, err
	}
	// The programs that a worker starts are to inherit nothing of all this.
	if err := unix.CloseRange(controlFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("mark inherited descriptors close-on-exec: %w", err)
	}
	if config.Threads > 0 {
		runtime.GOMAXPROCS(config.Threads)
	}
	w := &Worker{Config: config}
	if w.Board, err = scoreboard.Open(os.NewFile(boardFD, "scoreboard")); err != nil {
		return nil, err
	}
	if w.slot, err = w.Board.Borrow(config.Slot); err != nil {
		return nil, err
	}
	for i := range config.Files {
		w.Files = append(w.Files, os.NewFile(uintptr(config.FirstFile+i), "inherited"))
	}
	if config.Taken != nil {
		if w.taken, err = config.Taken.read(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Options are what the worker's server is to be made with.
func (w *Worker) Options(log *slog.Logger, access weighstone.AccessLog) weighstone.Options {
	return weighstone.Options{
		Limits: w.Config.Limits, Workers: w.Config.Workers, Knobs: w.Config.Knobs, Position: w.Config.Position,
		Log: log, Slots: []*weighstone.Slot{w.slot}, Access: access, Taken: w.taken,
	}
}

// Run serves until the master says that it is enough, or the connection that
// this process is for has ended. reopen is called when the access log is to be
// opened again. When the master is gone, so is this process, at once.
func (w *Worker) Run(server weighstone.Server, site *weighstone.Site, reopen func()) error {
	listeners := make([]int, w.Config.Listeners)
	for i := range listeners {
		listeners[i] = listenerFD + i
	}
	if w.Config.Conn != "" && w.taken == nil {
		conn, err := w.conn()
		if err != nil {
			return err
		}
		listeners = []int{conn}
	}
	go w.obey(server, reopen)
	if _, err := unix.Write(controlFD, []byte{msgReady}); err != nil {
		return fmt.Errorf("report to the master: %w", err)
	}
	return server.Serve(listeners, site)
}

// conn is the descriptor of the connection that this process is for. One that
// came as standard input and output is moved away from there: what else is
// printed is not for the client.
func (w *Worker) conn() (int, error) {
	if w.Config.Conn == connPassed {
		return listenerFD, nil
	}
	conn, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, listenerFD)
	if err != nil {
		return 0, fmt.Errorf("take the connection from standard input: %w", err)
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := 0; err == nil && fd <= 1; fd++ {
		err = unix.Dup3(null, fd, 0)
	}
	if err != nil {
		return 0, fmt.Errorf("take the connection from standard input: %w", err)
	}
	return conn, unix.Close(null)
}

// A retirer is a server that can end without its clients' notice. Those are that
// elastic masters start.
type retirer interface{ Retire() }

// obey does what the master says. It waits in recv(2) itself: the runtime's
// poller, in a process that may need it for nothing else, would cost each
// start six system calls. A message stays in the socket until it is heeded, so
// that none is lost when this process becomes another program.
func (w *Worker) obey(server weighstone.Server, reopen func()) {
	o := &orders{server: server, reopen: reopen}
	o.ctx, o.cut = context.WithCancel(context.Background())
	defer o.cut()
	if w.taken != nil {
		for _, msg := range w.Config.Taken.Said {
			w.heed(msg, o)
		}
	}
	var b [1]byte
	for {
		n, _, err := unix.Recvfrom(controlFD, b[:], unix.MSG_PEEK)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			os.Exit(1) // the master is dead
		}
		w.mu.Lock()
		if n, _ := unix.Read(controlFD, b[:]); n > 0 {
			w.heed(b[0], o)
		}
		w.mu.Unlock()
	}
}

// orders are what a worker's master can ask of it.
type orders struct {
	server weighstone.Server
	reopen func()
	ctx    context.Context // of the drain
	cut    func()
}

// heed carries out one message.
func (w *Worker) heed(msg byte, o *orders) {
	switch msg {
	case msgRetire:
		o.server.(retirer).Retire()
	case msgDrain:
		go o.server.Drain(o.ctx)
	case msgCut:
		o.cut()
		go o.server.Drain(o.ctx)
	case msgReopen:
		o.reopen()
		_, _ = unix.Write(controlFD, []byte{msgReopened}) // the next read tells if it fails
		return
	}
	w.said = append(w.said, msg)
}
