package upstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/handlers/gateway"
	"github.com/weighstone/weighstone/internal/sys"
)

// A run is one request at an application. It is the gateway's output.
type run struct {
	app      *app
	seat     *seat
	request  []byte // what was sent first; the seat's
	errs     gateway.Complaints
	pending  []byte // output in the seat's buffer that was not read
	limit    time.Time
	pause    time.Time
	gone     <-chan struct{}
	progress atomic.Uint64 // reads that brought something
	retry    bool          // may be sent once more
	ended    error         // how the connection ended, nil if it has not
	starving bool
	parked   bool // nobody may wait: the link is apart

	mu       sync.Mutex
	cause    error // why it was broken off, nil if it was not
	freed    bool
	cut      bool          // the body's copying was broken off
	over     chan struct{} // closed when the run is; nil unless watched
	detached chan struct{}
}

// Read reads output. Errors are io.EOF, gateway.ErrPause at the time set by
// PauseAt, or why the reply is not whole.
func (r *run) Read(p []byte) (int, error) {
	s := r.seat
	for len(r.pending) == 0 {
		if err := r.broken(); err != nil {
			return 0, err
		}
		out, errs, n, err := s.codec.next(s.buf[s.start:s.end])
		s.start += n
		switch {
		case err != nil:
			r.ended = err
			return 0, err
		case len(errs) > 0:
			r.errs.Take(errs)
		case len(out) > 0:
			r.pending = out
		case s.codec.done():
			r.errs.Flush()
			return 0, io.EOF
		default:
			if err := r.fill(); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// broken returns why no more is to be read.
func (r *run) broken() error {
	if r.ended != nil {
		return r.ended
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// fill reads from the connection once.
func (r *run) fill() error {
	s := r.seat
	s.end = copy(s.buf, s.buf[s.start:s.end])
	s.start = 0
	if r.parked {
		return r.fillAtOnce()
	}
	n, err := s.link.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		r.retry = false
		r.sate()
		r.progress.Add(1)
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if cause := r.broken(); cause != nil {
			return cause
		}
		return gateway.ErrPause
	}
	if cause := r.broken(); cause != nil {
		return cause
	}
	if r.retry && s.end == 0 {
		return r.again()
	}
	if err == io.EOF {
		r.ended = s.codec.closed()
	} else {
		r.ended = fmt.Errorf("%w: %w", gateway.ErrBroken, err)
	}
	return r.ended
}

// fillAtOnce reads what there is. The end of the connection is for somebody to
// judge who can open another one, and finds it there again.
func (r *run) fillAtOnce() error {
	s := r.seat
	n, errno := sys.Read(s.link.fd, s.buf[s.end:])
	switch {
	case errno == unix.EAGAIN:
		return gateway.ErrLater
	case errno != 0, n == 0:
		return gateway.ErrStuck
	}
	s.end += n
	r.retry = false
	r.progress.Add(1)
	return nil
}

// again sends the request once more, on a new connection.
func (r *run) again() error {
	r.retry = false
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seat
	s.hangUp()
	s.codec.again()
	err := s.connect(r.limit, true)
	if err == nil {
		_, err = s.link.send(r.request, r.limit)
	}
	if err != nil {
		r.ended = fmt.Errorf("%w: %w", gateway.ErrBroken, err)
		return r.ended
	}
	s.link.SetReadDeadline(r.pause)
	return nil
}

// PauseAt sets when a read gives up for the moment.
func (r *run) PauseAt(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pause = t
	if r.cause == nil && r.seat.link != nil && !r.parked {
		r.seat.link.SetReadDeadline(t)
	}
}

// Watch has a goroutine watch the time limit and the client.
func (r *run) Watch() {
	if r.progress.Load() == 0 && r.seat.worker == nil && r.seat.link != nil && !r.seat.link.reused {
		r.starving = true
		r.app.pool.starve()
	}
	r.over, r.detached = make(chan struct{}), make(chan struct{})
	go gateway.Watch{
		Limit: r.limit, Gone: r.gone, Detached: r.detached, Progress: &r.progress, Kill: r.Kill,
	}.Until(r.over)
}

// sate says that the application has a worker for the request, or that it
// needs none any more.
func (r *run) sate() {
	if r.starving {
		r.starving = false
		r.app.pool.sate()
	}
}

// Kill breaks the reply off because of cause.
func (r *run) Kill(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.freed {
		return
	}
	if r.cause == nil {
		r.cause = cause
	}
	if r.seat.link != nil && !r.parked {
		r.seat.link.SetDeadline(past)
	}
}

// End judges output that is at its end.
func (r *run) End() error {
	if err := r.broken(); err != io.EOF {
		return err
	}
	return nil
}

// Status returns that of the application.
func (r *run) Status() int {
	if c, ok := r.seat.codec.(*fcgiCodec); ok {
		return int(c.reply.Status)
	}
	return 0
}

// Detach says that the channel that tells of the client means another
// exchange from now on.
func (r *run) Detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detached != nil {
		close(r.detached)
		r.detached = nil
	}
}

// Free gives the seat back: with its connection if the reply was whole and
// nothing else came; at once if the application is known to be ready; else
// when it is.
func (r *run) Free() {
	r.Detach()
	r.sate()
	r.errs.Flush()
	r.mu.Lock()
	r.freed = true
	killed, cut := r.cause != nil, r.cut
	r.mu.Unlock()
	if r.over != nil {
		close(r.over)
	}
	a, s := r.app, r.seat
	done := s.codec.done()
	switch {
	case done && s.start == s.end && !killed && !cut:
		a.answered.Add(1)
		a.pool.give(s)
	case killed && !done && r.ended == nil && s.link != nil:
		a.unwinds.Go(func() { a.unwind(s) })
	default:
		s.hangUp()
		a.pool.give(s)
	}
}
