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
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.Pid, syscall.SIGKILL)
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
		p.reaped = pid == p.Pid || err != nil
		return p.status, p.reaped
	}
}

// Await waits until the process has ended, without reaping it, or until
// limit, and says which: true when it has ended. It ties no thread.
func (p *Process) Await(limit time.Time) (bool, error) {
	p.mu.Lock()
	if p.reaped {
		p.mu.Unlock()
		return true, nil
	}
	fd, err := unix.PidfdOpen(p.Pid, unix.PIDFD_NONBLOCK)
	p.mu.Unlock()
	if err != nil {
		return false, os.NewSyscallError("pidfd_open", err)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
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
