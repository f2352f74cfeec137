package helper

import (
	"encoding/binary"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/spawn"
)

// A child is a program that the helper was asked to start.
type child struct {
	client *Client

	mu      sync.Mutex
	link    *link // nil once it was reaped
	waiting int   // goroutines that await its end
	status  syscall.WaitStatus
	err     error
}

// Pid returns 0: the helper does not say, since that would cost a message.
func (p *child) Pid() int { return 0 }

// Signal sends a signal to the program's group, unless it has been reaped.
func (p *child) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link != nil {
		p.link.tell(orderSignal, byte(s))
	}
}

// Await waits until the program has ended or the helper is gone, or until
// limit, and says which: false for the limit.
func (p *child) Await(limit time.Time) bool {
	p.mu.Lock()
	l := p.link
	if l == nil {
		p.mu.Unlock()
		return true
	}
	p.waiting++
	p.mu.Unlock()
	ended, err := spawn.AwaitReadable(l.file, limit)
	p.mu.Lock()
	p.waiting--
	p.mu.Unlock()
	return ended || err != nil // it was closed: the program was reaped, or given up
}

// Reap takes the exit status if the program has ended, and says whether it has.
func (p *child) Reap() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil {
		return p.status, true
	}
	var b [verdictSize]byte
	n, _, err := unix.Recvfrom(p.link.fd, b[:], unix.MSG_DONTWAIT)
	for err == unix.EINTR {
		n, _, err = unix.Recvfrom(p.link.fd, b[:], unix.MSG_DONTWAIT)
	}
	if err == unix.EAGAIN {
		return 0, false
	}
	value := binary.NativeEndian.Uint32(b[4:])
	switch {
	case err == nil && n == verdictSize && b[0] == verdictEnded:
		p.status = syscall.WaitStatus(value)
		p.link.tell(orderRelease)
		p.settle(nil, p.waiting == 0)
	case err == nil && n == verdictSize && b[0] == verdictFailed:
		p.settle(syscall.Errno(value), p.waiting == 0)
	default:
		p.settle(ErrLost, false)
	}
	return p.status, true
}

// settle ends the program's use of its connection, which is kept if it is good
// for another: not while somebody waits on it.
func (p *child) settle(err error, keep bool) {
	p.err = err
	p.client.remove(p)
	if keep {
		p.client.put(p.link)
	} else {
		p.link.close()
	}
	p.link = nil
}

// lose gives the program up, which ends it.
func (p *child) lose(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link != nil {
		p.settle(err, false)
	}
}

// Reaped returns the exit status if it has been taken already.
func (p *child) Reaped() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.link == nil
}

// Err says, once the program was reaped, why it did not run, an errno, or
// that what became of it can't be known.
func (p *child) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
