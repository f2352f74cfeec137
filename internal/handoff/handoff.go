// Package handoff replaces a serving process by a new one without closing its
// listening sockets: a graceful restart through
// github.com/cloudflare/tableflip, with what that library leaves to its user.
package handoff

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"github.com/cloudflare/tableflip"
	"golang.org/x/sys/unix"
)

// parentVariable is how the library tells a successor from a first process
// (tableflip's parent.go). If it stayed set, any program that we start and
// that uses the library would take itself for a successor and die.
const parentVariable = "TABLEFLIP_HAS_PARENT_7DIU3"

// The reasons to refuse a restart that a caller may want to tell apart.
var (
	ErrInit     = errors.New("this process is PID 1: when it ends, everything in its container ends with it")
	ErrDraining = errors.New("the process before this one still drains")
	ErrBusy     = errors.New("a restart is already under way")
)

// settle is how long a restart waits for a predecessor that is just about to
// end: whoever has seen it end may be faster than its end of the pipe.
const settle = time.Second

// Options of a [Handoff]. The zero value works.
type Options struct {
	// PIDFile, if not empty, names the serving process from [Handoff.Ready]
	// on.
	PIDFile string
	// Timeout is how long a successor may take to get ready; 0 means a
	// minute.
	Timeout time.Duration
	// Log is told how a predecessor ended; nil discards it.
	Log *slog.Logger
}

// A Handoff is this process's place in a line of processes that serve the
// same sockets one after the other. There is one in a process, which lives as
// long as that does.
type Handoff struct {
	opts    Options
	upg     *tableflip.Upgrader
	blank   *os.File      // stands in for a descriptor that the library should not hold
	alone   chan struct{} // closed when no predecessor lives
	restart sync.Mutex    // held while a successor starts

	mu     sync.Mutex
	shared []shared
}

// A shared descriptor goes to the successor under its name.
type shared struct {
	name string
	fd   int
}

// New takes the place in the line. It must come before anything that opens
// descriptors for children or starts one.
func New(o Options) (*Handoff, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := checkPIDFile(o.PIDFile); err != nil {
		return nil, fmt.Errorf("prepare the pid file: %w", err)
	}
	upg, err := tableflip.New(tableflip.Options{UpgradeTimeout: o.Timeout, PIDFile: o.PIDFile})
	if err != nil {
		return nil, fmt.Errorf("prepare restarts: %w", err)
	}
	h := &Handoff{opts: o, upg: upg, alone: make(chan struct{})}
	if !upg.HasParent() {
		close(h.alone)
	} else {
		go h.awaitPredecessor()
	}
	// What we were started with is for no child of ours: the library's pipes to
	// the predecessor, which it leaves open across exec (measured), and whatever a shell or supervisor left open.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("mark inherited descriptors close-on-exec: %w", err)
	}
	if err := os.Unsetenv(parentVariable); err != nil {
		return nil, fmt.Errorf("prepare restarts: %w", err)
	}
	if h.blank, err = os.Open(os.DevNull); err != nil {
		return nil, fmt.Errorf("prepare restarts: %w", err)
	}
	return h, nil
}

func (h *Handoff) awaitPredecessor() {
	if err := h.upg.WaitForParent(context.Background()); err != nil {
		h.opts.Log.Warn("the process before this one ended badly", "error", err)
	}
	close(h.alone)
}

// Inherited says whether this process is a successor.
func (h *Handoff) Inherited() bool { return h.upg.HasParent() }

// Ready says that this process serves: the pid file names it, and a
// predecessor begins to drain. Inherited descriptors that nobody asked for
// are closed.
func (h *Handoff) Ready() error {
	if err := h.upg.Ready(); err != nil {
		return fmt.Errorf("report ready: %w", err)
	}
	return nil
}

// Replaced is closed when a successor serves, or after [Handoff.Stop]: time to
// drain.
func (h *Handoff) Replaced() <-chan struct{} { return h.upg.Exit() }

// Stop ends all restarting. A successor that is not ready yet is killed.
func (h *Handoff) Stop() { h.upg.Stop() }

// Restart starts this program again with the same arguments, hands it the
// shared descriptors and waits until it serves. When it fails, this process
// still serves; the error says why.
func (h *Handoff) Restart() error {
	if os.Getpid() == 1 {
		return fmt.Errorf("restart: %w", ErrInit)
	}
	if !h.restart.TryLock() {
		return fmt.Errorf("restart: %w", ErrBusy)
	}
	defer h.restart.Unlock()
	select {
	case <-h.alone:
	case <-time.After(settle):
		// The library keeps two generations at most (tableflip issue 52).
		return fmt.Errorf("restart: %w", ErrDraining)
	}
	if err := h.lend(); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	if err := h.upgrade(); err != nil {
		h.takeBack()
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// upgrade asks the library, and again if it has not yet heard what we know,
// that the predecessor is gone.
func (h *Handoff) upgrade() error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		err := h.upg.Upgrade()
		if err == nil || err.Error() != "parent hasn't exited" || time.Since(begun) > settle {
			return err
		}
	}
}
