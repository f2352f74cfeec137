package spawn

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kill ends the whole process group at once, unless the process has been
// reaped: from then on its number may be another's. So who wants the
// grandchildren to end too kills before reaping.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// Signal sends a signal to the whole process group, unless the process has
// been reaped.
func (p *Process) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.Pid, s)
	}
}

// Reap takes the exit status if the process has ended, and says whether it
// has. It does not wait. Any number of goroutines may call it.
func (p *Process) Reap() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return p.status, true
	}
	for {
		pid, err := syscall.Wait4(p.Pid, &p.status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		// ECHILD: someone else took the status; it can't be learnt any more.
		if p.reaped = pid == p.Pid || err != nil; p.reaped {
			p.spawner.remove(p)
		}
		return p.status, p.reaped
	}
}

// Await waits until the process has ended, without reaping it, or until
// limit, and says which: true when it has ended. It ties no thread.
func (p *Process) Await(limit time.Time) bool {
	if f := p.descriptor(); f != nil {
		defer f.Close()
		if ended, err := awaitReadable(f, limit); err == nil {
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
func (p *Process) descriptor() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	fd, err := unix.PidfdOpen(p.Pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

// awaitReadable waits in Go's poller until f is readable or limit is reached.
func awaitReadable(f *os.File, limit time.Time) (bool, error) {
	if err := f.SetReadDeadline(limit); err != nil {
		return false, err
	}
	c, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	err = c.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// Reaped returns the exit status if it has been taken already.
func (p *Process) Reaped() (syscall.WaitStatus, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.reaped
}
