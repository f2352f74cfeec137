package spawn

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
)

// A Spawner starts processes that do not outlive it: each asks the kernel for
// SIGKILL at its parent's death, and Close kills what still runs.
//
// The kernel takes the death of the starting *thread* for the parent's
// (PR_SET_PDEATHSIG(2const)). The Go runtime ends a thread only when a
// goroutine exits that has locked it, so Start is not for such goroutines.
// Starting everything from one locked thread would lift that rule; but going
// there and back costs four thread switches, measured as 50 us of the 200 us
// that a CGI request costs beside the program itself.
type Spawner struct {
	null    *os.File
	forking sync.RWMutex // held for reading while null is being passed on

	mu     sync.Mutex
	live   map[*child]struct{} // started and not reaped
	closed bool
}

// New makes a Spawner. Its owner closes it when no more is to be started.
func New() (*Spawner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("make spawner: %w", err)
	}
	return &Spawner{null: null, live: map[*child]struct{}{}}, nil
}

// Close kills what still runs of the processes that were started. They still
// want to be reaped.
func (s *Spawner) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	live := slices.Collect(maps.Keys(s.live))
	s.mu.Unlock()
	for _, p := range live {
		p.Signal(syscall.SIGKILL)
	}
	s.forking.Lock()
	defer s.forking.Unlock()
	return s.null.Close()
}

// add takes note of a process, or kills it if the spawner was closed meanwhile.
func (s *Spawner) add(p *child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.Signal(syscall.SIGKILL)
		return
	}
	s.live[p] = struct{}{}
}

// remove forgets a process that was reaped.
func (s *Spawner) remove(p *child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, p)
}

// Exec starts a program with three descriptors, null for those that are
// NoFile, and nothing else of ours: every other is close-on-exec, the signal
// mask and dispositions are those that the Go runtime found at its start,
// SIGPIPE at its default. A pidfd that is not nil receives one.
func Exec(cmd *Command, files [3]int, null int, pidfd *int) (pid int, err error) {
	var fds [3]uintptr
	for i, fd := range files {
		if fds[i] = uintptr(fd); fd == NoFile {
			fds[i] = uintptr(null)
		}
	}
	args := cmd.Args
	if len(args) == 0 {
		args = []string{cmd.Path}
	}
	return syscall.ForkExec(cmd.Path, args, &syscall.ProcAttr{
		Dir:   cmd.Dir,
		Env:   cmd.Env,
		Files: fds[:],
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd},
	})
}

// Start starts a program. Errors wrap the errno of the system call that
// failed: EACCES, ENOENT and ENOEXEC from execve(2) speak of the file; EAGAIN,
// ENOMEM, EMFILE and ENFILE of a machine that has no room just now.
func (s *Spawner) Start(cmd *Command) (*Process, error) {
	return Connect(cmd, func(files [3]int) (Child, error) {
		pid, err := s.fork(cmd, files)
		if err != nil {
			return nil, err
		}
		c := &child{pid: pid, spawner: s}
		s.add(c)
		return c, nil
	})
}

// fork starts the program of cmd.
func (s *Spawner) fork(cmd *Command, files [3]int) (pid int, err error) {
	s.forking.RLock()
	defer s.forking.RUnlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return 0, os.ErrClosed
	}
	return Exec(cmd, files, int(s.null.Fd()), nil)
}
