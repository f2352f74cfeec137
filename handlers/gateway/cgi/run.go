package cgi

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

const (
	// straggle is for how long a grandchild may hold the output open once the
	// program has ended, and how long a program may take to end once its
	// output has.
	straggle = 250 * time.Millisecond
	// maxPipe bounds what a program can have left in its output, in bytes:
	// the size to which anyone may grow a pipe.
	maxPipe = 1 << 20
)

// A run is one program at work for one exchange. The goroutine of the
// exchange reads its output; when it takes longer than a moment, a second one
// watches over it.
type run struct {
	h        *Handler
	p        *spawn.Process
	limit    time.Time
	gone     <-chan struct{}
	detached chan struct{} // closed when the exchange needs the program no more
	detach   sync.Once
	watched  bool
	progress atomic.Uint64 // reads that brought something
	drained  int           // bytes read since the program ended
	over     sync.Once     // the slot has been given back

	mu      sync.Mutex
	state   state
	cause   error // of state killed
	errs    gateway.Complaints
	logging sync.WaitGroup // the goroutine that copies standard error
}

// state is how far a run's output can be trusted to go on.
type state uint8

const (
	running  state = iota
	draining       // the program has ended: what is in the pipe, and that's all
	killed         // broken off: nothing more
)

// Read reads output. Errors are io.EOF, ErrPause at the time set by PauseAt,
// or why the program was killed.
func (r *run) Read(p []byte) (int, error) {
	for {
		st, cause := r.look()
		if st == killed {
			return 0, cause
		}
		if st == draining && r.drained > maxPipe {
			return 0, io.EOF // such a one even goes on writing
		}
		n, err := r.p.Stdout.Read(p)
		switch {
		case n > 0:
			r.progress.Add(1)
			if st == draining {
				r.drained += n
			}
			return n, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, r.endOr(err)
		case st == draining:
			return 0, io.EOF // a grandchild that left the group holds it open
		}
		if now, _ := r.look(); now == running {
			return 0, gateway.ErrPause
		}
	}
}

// look returns the state; while draining each look allows one more read some
// time.
func (r *run) look() (state, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == draining {
		r.p.Stdout.SetReadDeadline(time.Now().Add(straggle))
	}
	return r.state, r.cause
}

// endOr returns why the program was killed, if it was: its output then ends
// like that of one that is ready.
func (r *run) endOr(err error) error {
	if st, cause := r.look(); st == killed {
		return cause
	}
	return err
}

// PauseAt sets when a read gives up for the moment; zero for never.
func (r *run) PauseAt(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == running {
		r.p.Stdout.SetReadDeadline(t)
	}
}

// Kill ends the process group because of cause.
func (r *run) Kill(cause error) {
	r.mu.Lock()
	if r.state == running {
		r.state, r.cause = killed, cause
	}
	r.p.Stdout.SetReadDeadline(time.Unix(1, 0))
	r.mu.Unlock()
	r.p.Kill()
}

// End settles a program whose output is at its end: it returns nil when the
// output is complete. A program that closed its output and goes on is left
// to.
func (r *run) End() error {
	status, ended := r.p.Reap()
	for i := 0; !ended && i < yields; i++ {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		status, ended = r.p.Reap()
	}
	if !ended {
		if !r.p.Await(time.Now().Add(straggle)) {
			r.Watch()
			return nil
		}
		status, _ = r.p.Reap()
	}
	r.ended()
	if st, cause := r.look(); st == killed {
		return cause
	}
	switch err := r.p.Err(); {
	case errors.Is(err, helper.ErrLost):
		return fmt.Errorf("%w: %w", gateway.ErrBroken, err)
	case err != nil && busy(err):
		return fmt.Errorf("%w: it does not start: %w", gateway.ErrBusy, err)
	case err != nil:
		return fmt.Errorf("program does not start: %w", err)
	}
	if status.Signaled() {
		return fmt.Errorf("%w: signal %v", gateway.ErrBroken, status.Signal())
	}
	return nil
}

// yields is how often End lets the program's exit proceed on this core before
// it asks for a wake-up: the pipe closes some microseconds before the process
// can be reaped.
const yields = 3

// ended does what the end of a program asks for, once.
func (r *run) ended() {
	r.over.Do(func() {
		if !r.watched {
			r.drainErrors()
		}
		<-r.h.slots
	})
}

// Status returns the exit status.
func (r *run) Status() int {
	status, _ := r.p.Reaped()
	return status.ExitStatus()
}

// Detach says that the exchange needs the program no more.
func (r *run) Detach() { r.detach.Do(func() { close(r.detached) }) }

// Free closes the pipes.
func (r *run) Free() { r.p.CloseFiles() }

// isKilled says whether the program was broken off.
func (r *run) isKilled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == killed
}
