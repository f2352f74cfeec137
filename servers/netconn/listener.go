package netconn

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
)

// A Listener accepts on a copy of a raw listening descriptor. It never shuts
// the socket down: a successor may be accepting on it.
type Listener struct {
	hub     *Hub
	tcp     *net.TCPListener
	stopped sync.Once
}

// Listen makes a listener of each descriptor, for connections to site. The descriptors stay the
// caller's; the listeners use copies, closed by [Hub.Run] or by Close.
func (h *Hub) Listen(descriptors []int, site *weighstone.Site) ([]*Listener, error) {
	h.site = site
	var list []*Listener
	for _, fd := range descriptors {
		tcp, err := listen(fd)
		if err != nil {
			for _, l := range list {
				_ = l.Close()
			}
			return nil, err
		}
		list = append(list, &Listener{hub: h, tcp: tcp})
	}
	h.mu.Lock()
	h.listeners = append(h.listeners, list...)
	h.accepting += len(list)
	if h.draining.Load() {
		for _, l := range list {
			l.wake()
		}
	}
	h.mu.Unlock()
	return list, nil
}

// listen copies fd twice, since net.FileListener copies too, and os.File closes
// what it was made of.
func listen(fd int) (*net.TCPListener, error) {
	syscall.ForkLock.RLock()
	own, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("copy listening descriptor %d: %w", fd, err)
	}
	f := os.NewFile(uintptr(own), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("listen on descriptor %d: %w", fd, err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		_ = l.Close()
		return nil, fmt.Errorf("listen on descriptor %d: not a TCP socket", fd)
	}
	return tcp, nil
}

const (
	// pause is how long accepting rests when descriptors have run out; the
	// listener stays readable, so that trying on would spin.
	pause = 50 * time.Millisecond
	// sweep is how long a draining listener waits for one more connection,
	// maxSweep how long it goes on taking them.
	sweep    = 50 * time.Millisecond
	maxSweep = time.Second
)

// Accept returns the next connection. It waits while the hub is full or
// descriptors have run out, and returns io.EOF when a drain has emptied the
// queue.
func (l *Listener) Accept() (net.Conn, error) {
	l.hub.waitRoom()
	for exhausted := false; ; {
		if l.hub.Draining() {
			return l.acceptQueued()
		}
		tcp, err := l.tcp.AcceptTCP()
		switch {
		case err == nil:
			if c, err := l.hub.newConn(tcp); c != nil || err != nil {
				return c, err
			}
		case isExhausted(err):
			if !exhausted {
				l.hub.Log.Warn("accept paused", "error", err)
				exhausted = true
			}
			time.Sleep(pause)
		case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, os.ErrDeadlineExceeded):
		default:
			return nil, fmt.Errorf("accept connection: %w", err)
		}
	}
}

// acceptQueued takes what waits in the queue while draining.
func (l *Listener) acceptQueued() (net.Conn, error) {
	quiet := 0 // a wait that was not given the processor in time has seen nothing
	for quiet < 2 && l.hub.now() < l.hub.graceEnds-int64(grace)+int64(maxSweep) {
		if err := l.tcp.SetDeadline(time.Now().Add(sweep)); err != nil {
			break
		}
		tcp, err := l.tcp.AcceptTCP()
		switch {
		case err == nil:
			if c, err := l.hub.newConn(tcp); c != nil || err != nil {
				return c, err
			}
		case isExhausted(err):
			time.Sleep(pause)
		case errors.Is(err, os.ErrDeadlineExceeded):
			quiet++
		case !errors.Is(err, syscall.ECONNABORTED):
			return nil, errStopped
		}
	}
	return nil, errStopped
}

func isExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// wake makes a waiting Accept look at the drain.
func (l *Listener) wake() { _ = l.tcp.SetDeadline(time.Unix(1, 0)) }

// Close closes the listener's copy of the descriptor.
func (l *Listener) Close() error {
	err := l.tcp.Close()
	l.stopped.Do(func() {
		l.hub.mu.Lock()
		l.hub.accepting--
		l.hub.mu.Unlock()
		l.hub.room.Broadcast()
	})
	return err
}

// Addr returns the local address.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }
