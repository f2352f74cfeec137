package cgi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/spawn"
)

const (
	// prompt is for how long output waits for more, so that a small reply
	// leaves whole, with its length; and how long a program runs before
	// goroutines watch over it.
	prompt = 100 * time.Millisecond
	// straggle is for how long a grandchild may hold the output open once the
	// program has ended, and how long a program may take to end once its
	// output has.
	straggle = 250 * time.Millisecond
	// leave is for how long a program may be silent once its client is gone.
	// A client that has only closed its sending side still gets a reply made
	// in that time.
	leave = 2 * time.Second
	// maxPipe bounds what a program can have left in its output, in bytes:
	// the size to which anyone may grow a pipe.
	maxPipe = 1 << 20
)

// never is the deadline of a read that waits.
var never time.Time

// How a run can break off.
var (
	errLimit  = errors.New("time limit reached")
	errGone   = errors.New("client gone")
	errClosed = errors.New("reply not wanted any more")
	errNone   = errors.New("no output")
	errPause  = errors.New("output pauses")
)

// A run is one program at work for one exchange. The goroutine of the
// exchange reads its output; when it takes longer than a moment, a second one
// watches over it.
type run struct {
	h        *Handler
	p        *spawn.Process
	script   string
	feed     *feeder // nil when no body is copied to the program
	buf      *[]byte // output read so far, header included; from the pool
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
	errs    complaints
	logging sync.WaitGroup // the goroutine that copies standard error
}

// state is how far a run's output can be trusted to go on.
type state uint8

const (
	running  state = iota
	draining       // the program has ended: what is in the pipe, and that's all
	killed         // broken off: nothing more
)

// collect reads until the header and the end of output are there, which
// io.EOF says, or the header and more body than is kept, or a pause in it. It
// returns where the body begins.
func (r *run) collect() (hd cgi.Header, n int, err error) {
	r.pauseAt(time.Now().Add(prompt))
	seen := 0
	for {
		b := *r.buf
		if n == 0 && (bytes.IndexByte(b[seen:], '\n') >= 0 || len(b)-seen > cgi.MaxLine) {
			seen = len(b)
			if hd, n, err = cgi.ParseHeader(b); err != nil {
				return hd, 0, err
			}
			if n > 0 && r.watched {
				r.pauseAt(time.Now().Add(prompt))
			}
		}
		if n > 0 && len(b)-n >= maxMemory {
			return hd, n, nil
		}
		switch err = r.fill(); {
		case err == errPause && n > 0:
			r.watch()
			return hd, n, nil
		case err == errPause:
			r.watch()
			r.pauseAt(never)
		case err == io.EOF && len(*r.buf) == 0:
			return hd, 0, errNone
		case err == io.EOF && n == 0:
			return hd, 0, fmt.Errorf("output ends before the header does: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return hd, n, err
		}
	}
}

// fill reads once to the end of the buffer.
func (r *run) fill() error {
	b := *r.buf
	if cap(b)-len(b) < 512 {
		b = append(b, make([]byte, cap(b))...)[:len(b)]
	}
	n, err := r.read(b[len(b):cap(b)])
	*r.buf = b[:len(b)+n]
	return err
}

// read reads output. Errors are io.EOF, errPause at the time set by pauseAt,
// or why the program was killed.
func (r *run) read(p []byte) (int, error) {
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
			return 0, errPause
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

// pauseAt sets when a read gives up for the moment; zero for never.
func (r *run) pauseAt(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == running {
		r.p.Stdout.SetReadDeadline(t)
	}
}

// kill ends the process group because of cause.
func (r *run) kill(cause error) {
	r.mu.Lock()
	if r.state == running {
		r.state, r.cause = killed, cause
	}
	r.p.Stdout.SetReadDeadline(time.Unix(1, 0))
	r.mu.Unlock()
	r.p.Kill()
}

// end settles a program whose output is at its end: it returns nil when the
// output is complete. A program that closed its output and goes on is left
// to.
func (r *run) end() error {
	status, ended := r.p.Reap()
	for i := 0; !ended && i < yields; i++ {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		status, ended = r.p.Reap()
	}
	if !ended {
		if !r.p.Await(time.Now().Add(straggle)) {
			r.watch()
			return nil
		}
		status, _ = r.p.Reap()
	}
	r.ended()
	if st, cause := r.look(); st == killed {
		return cause
	}
	if status.Signaled() {
		return fmt.Errorf("%w: %v", errSignal, status.Signal())
	}
	return nil
}

// yields is how often end lets the program's exit proceed on this core before
// it asks for a wake-up: the pipe closes some microseconds before the process
// can be reaped.
const yields = 3

// ended does what the end of a program asks for, once.
func (r *run) ended() {
	r.over.Do(func() {
		if !r.watched {
			r.errs.drain(r)
		}
		<-r.h.slots
	})
}

// isKilled says whether the program was broken off.
func (r *run) isKilled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == killed
}
