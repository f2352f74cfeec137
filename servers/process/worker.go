package process

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"

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
	return w, nil
}

// Options are what the worker's server is to be made with.
func (w *Worker) Options(log *slog.Logger, access weighstone.AccessLog) weighstone.Options {
	return weighstone.Options{
		Limits: w.Config.Limits, Workers: w.Config.Workers, Knobs: w.Config.Knobs,
		Log: log, Slots: []*weighstone.Slot{w.slot}, Access: access,
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
	if w.Config.Conn != "" {
		conn, err := w.conn()
		if err != nil {
			return err
		}
		listeners = []int{conn}
	}
	go obey(server, reopen)
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

// obey does what the master says. It waits in read(2) itself: the runtime's
// poller, in a process that may need it for nothing else, would cost each
// start six system calls.
func obey(server weighstone.Server, reopen func()) {
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	var b [16]byte
	for {
		n, err := unix.Read(controlFD, b[:])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			os.Exit(1) // the master is dead
		}
		for _, msg := range b[:n] {
			switch msg {
			case msgRetire:
				server.(retirer).Retire()
			case msgDrain:
				go server.Drain(ctx)
			case msgCut:
				cut()
				go server.Drain(ctx)
			case msgReopen:
				reopen()
				_, _ = unix.Write(controlFD, []byte{msgReopened}) // the next read tells if it fails
			}
		}
	}
}
