package spawn

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A child is a program that this process has started.
type child struct {
	pid     int
	spawner *Spawner

	mu     sync.Mutex
	reaped bool
	status syscall.WaitStatus
}

// Pid returns the process's number.
func (p *child) Pid() int { return p.pid }

// Err returns nil: what this process has started it knows the fate of.
func (p *child) Err() error { return nil }

// Signal sends a signal to the whole process group, unless the process has
// been reaped.
func (p *child) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.pid, s)
	}
}

// Reap takes the exit status if the process has ended, and says whether it
// has. It does not wait. Any number of goroutines may call it.
func (p *child) Reap() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return p.status, true
	}
	for {
		pid, err := syscall.Wait4(p.pid, &p.status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		// ECHILD: someone else took the status; it can't be learnt any more.
		if p.reaped = pid == p.pid || err != nil; p.reaped {
			p.spawner.remove(p)
		}
		return p.status, p.reaped
	}
}

// Await waits until the process has ended, without reaping it, or until
// limit, and says which: true when it has ended. It ties no thread.
func (p *child) Await(limit time.Time) bool {
	if f := p.descriptor(); f != nil {
		defer f.Close()
		if ended, err := AwaitReadable(f, limit); err == nil {
			return ended
		}
	}
	// No descriptor to be had, or a kernel before Linux 5.10.
	for ; ; time.Sleep(10 * time.Millisecond) {
		if _, ended := p.Reap(); ended || time.Now().After(limit) {
			return ended
		}
	}
}

// descriptor returns a pidfd, which becomes readable when the process ends;
// nil if there is none. While the process is not reaped its number is its own.
func (p *child) descriptor() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	fd, err := unix.PidfdOpen(p.pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

// Reaped returns the exit status if it has been taken already.
func (p *child) Reaped() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.reaped
}
