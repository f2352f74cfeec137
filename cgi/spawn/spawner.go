package spawn

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
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
	live   map[*Process]struct{} // started and not reaped
	closed bool
}

// A birth is what a process is to begin with.
type birth struct {
	cmd   *Command
	files [3]int // standard input, output and error; noFile for /dev/null
}

const noFile = -1

// New makes a Spawner. Its owner closes it when no more is to be started.
func New() (*Spawner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("make spawner: %w", err)
	}
	return &Spawner{null: null, live: map[*Process]struct{}{}}, nil
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
		p.Kill()
	}
	s.forking.Lock()
	defer s.forking.Unlock()
	return s.null.Close()
}

// add takes note of a process, or kills it if the spawner was closed meanwhile.
func (s *Spawner) add(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.Kill()
		return
	}
	s.live[p] = struct{}{}
}

// remove forgets a process that was reaped.
func (s *Spawner) remove(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, p)
}

// forkExec starts a program with three descriptors and nothing else of ours:
// every other is close-on-exec, the signal mask and dispositions are those
// that the Go runtime found at its start, SIGPIPE at its default.
func forkExec(b *birth, null uintptr) (int, error) {
	var files [3]uintptr
	for i, fd := range b.files {
		if files[i] = uintptr(fd); fd == noFile {
			files[i] = null
		}
	}
	args := b.cmd.Args
	if len(args) == 0 {
		args = []string{b.cmd.Path}
	}
	return syscall.ForkExec(b.cmd.Path, args, &syscall.ProcAttr{
		Dir:   b.cmd.Dir,
		Env:   b.cmd.Env,
		Files: files[:],
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
}

// Start starts a program. Errors wrap the errno of the system call that
// failed: EACCES, ENOENT and ENOEXEC from execve(2) speak of the file; EAGAIN,
// ENOMEM, EMFILE and ENFILE of a machine that has no room just now.
func (s *Spawner) Start(cmd *Command) (*Process, error) {
	p := &Process{Stderr: -1, spawner: s}
	b := &birth{cmd: cmd, files: [3]int{noFile, noFile, noFile}}
	var theirs []int
	err := p.plumb(cmd, b, &theirs)
	if err == nil {
		p.Pid, err = s.fork(b)
	}
	for _, fd := range theirs {
		unix.Close(fd)
	}
	if err != nil {
		p.CloseFiles()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.add(p)
	return p, nil
}

// fork starts the program of b.
func (s *Spawner) fork(b *birth) (pid int, err error) {
	s.forking.RLock()
	defer s.forking.RUnlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return 0, os.ErrClosed
	}
	return forkExec(b, s.null.Fd())
}
