package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Command says what to start.
type Command struct {
	Path string // absolute, or relative to the working directory
	Args []string
	Env  []string // added to this process's own
	Dir  string
	CPUs []int // the cores it may run on; empty for all that this process may

	// Stdin is its standard input, /dev/null if nil. The caller closes it.
	Stdin *os.File
	// Unprivileged starts it as the user nobody where this process is root's,
	// for programs that refuse to be. It still reads and writes what root may
	// (CAP_DAC_OVERRIDE, in the ambient set: capabilities(7)), so that it
	// needs no files of its own.
	Unprivileged bool

	StopSignal syscall.Signal // asks it to end; 0 means SIGTERM
}

// A Spawner starts processes and keeps them. It is made by [NewSpawner] and
// lives until Close, which ends what is still running. If this process is
// killed the kernel kills its children.
type Spawner struct {
	jobs chan func()
	done chan struct{}

	mu      sync.Mutex
	running map[*Process]struct{}
	closed  bool
}

// NewSpawner returns a spawner with its thread.
func NewSpawner() *Spawner {
	s := &Spawner{jobs: make(chan func()), done: make(chan struct{}), running: map[*Process]struct{}{}}
	go s.loop()
	return s
}

// loop keeps its thread locked to its end, which takes the thread with it.
func (s *Spawner) loop() {
	runtime.LockOSThread()
	defer close(s.done)
	for job := range s.jobs {
		job()
	}
}

var errClosed = errors.New("the spawner is closed")

// Start starts c in a process group of its own. The process belongs to the
// spawner until it has ended; the caller should [Process.Stop] it.
func (s *Spawner) Start(c Command) (*Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("start %s: %w", c.Path, errClosed)
	}
	p := newProcess(c)
	started := make(chan error)
	s.jobs <- func() { started <- startOn(c.CPUs, p.cmd) }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	s.running[p] = struct{}{}
	go func() {
		p.wait()
		s.mu.Lock()
		delete(s.running, p)
		s.mu.Unlock()
	}()
	return p, nil
}

// startOn starts cmd from the calling thread, which is locked and has the
// wanted affinity for that moment.
func startOn(cpus []int, cmd *exec.Cmd) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the affinity: %w", err)
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("set the affinity to cores %v: %w", cpus, err)
	}
	startErr := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return errors.Join(startErr, fmt.Errorf("restore the affinity: %w", err))
	}
	return startErr
}

// Close stops what still runs, without grace, and ends the thread. It may be
// called twice.
func (s *Spawner) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.done
		return
	}
	s.closed = true
	var left []*Process
	for p := range s.running {
		left = append(left, p)
	}
	s.mu.Unlock()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range left {
		p.Stop(gone)
	}
	close(s.jobs)
	<-s.done
}

// nobody is the number of the user and the group of that kind: the kernel's own
// (/proc/sys/kernel/overflowuid), and Debian's.
const nobody = 65534

// newProcess prepares c without starting it.
func newProcess(c Command) *Process {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	if len(c.Env) > 0 {
		cmd.Env = append(cmd.Environ(), c.Env...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if c.Unprivileged && os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE}
	}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	// A grandchild that keeps a pipe open must not keep Wait from returning.
	cmd.WaitDelay = 500 * time.Millisecond
	if c.StopSignal == 0 {
		c.StopSignal = syscall.SIGTERM
	}
	p := &Process{cmd: cmd, stop: c.StopSignal, lines: make(chan string, 64), done: make(chan struct{})}
	p.stdout.emit = p.print
	p.stderr.emit = p.complain
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	return p
}
