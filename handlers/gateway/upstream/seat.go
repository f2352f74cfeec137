package upstream

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/handlers/gateway"
)

// A seat is a place at an application, with a connection or without. Who took
// it from the pool owns it until it is given back.
type seat struct {
	address *address
	worker  *worker // nil if somebody else runs the application

	link       *link // nil when there is no connection
	codec      codec
	buf        []byte // read from the connection and not used: buf[start:end]
	start, end int

	// For the pool:
	taken, down bool
	since       time.Time // idle
}

// bufferSize is how much of a reply is read at once, in bytes.
const bufferSize = 16 << 10

func newSeat(a *address, p Protocol) *seat {
	return &seat{address: a, codec: p.newCodec(), buf: make([]byte, bufferSize), down: true}
}

// rank puts seats without a connection before those with one.
func (s *seat) rank() int {
	if s.link == nil {
		return 0
	}
	return 1
}

// hangUp closes the connection.
func (s *seat) hangUp() {
	if s.link != nil {
		s.link.Close()
		s.link = nil
	}
	s.start, s.end = 0, 0
}

// connect sees to it that there is a connection. One that is kept is looked at
// before it is used again, unless the request can be repeated anyway: the look
// costs a system call.
func (s *seat) connect(limit time.Time, repeatable bool) error {
	if s.link != nil {
		if (repeatable || s.link.fresh()) && s.link.join() == nil {
			s.link.reused = true
			return nil
		}
		s.hangUp()
	}
	c, err := s.address.dial(limit)
	if err != nil {
		return err
	}
	s.link, err = newLink(c)
	return err
}

// An address is where an application listens.
type address struct {
	network, name string // as for net.Dial

	mu      sync.Mutex
	failed  error // of the last attempt
	retry   time.Time
	backoff time.Duration
}

// How long an address nobody listens on is left alone: doubling up to longest.
const (
	firstBackoff   = 50 * time.Millisecond
	longestBackoff = 2 * time.Second
)

// dial connects. For some time after it failed it fails at once.
func (a *address) dial(limit time.Time) (net.Conn, error) {
	a.mu.Lock()
	err, retry := a.failed, a.retry
	a.mu.Unlock()
	if err != nil && time.Now().Before(retry) {
		return nil, restingError{err}
	}
	d := net.Dialer{Deadline: earlier(limit, time.Now().Add(5*time.Second))}
	c, err := d.Dial(a.network, a.name)
	for patience := 100; errors.Is(err, syscall.EAGAIN) && patience > 0; patience-- {
		// A Unix socket's queue is full: it has no way to make us wait.
		time.Sleep(10 * time.Millisecond)
		c, err = d.Dial(a.network, a.name)
	}
	if errors.Is(err, syscall.EAGAIN) {
		return nil, gateway.ErrBusy
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed = fmt.Errorf("connect to application: %w", err)
		a.backoff = min(max(2*a.backoff, firstBackoff), longestBackoff)
		a.retry = time.Now().Add(a.backoff)
		return nil, a.failed
	}
	a.failed, a.backoff = nil, 0
	return c, nil
}

// A restingError is why an address was not tried.
type restingError struct{ error }

// Unwrap returns why the last attempt failed.
func (e restingError) Unwrap() error { return e.error }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
