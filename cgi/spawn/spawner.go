package spawn

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Spawner starts processes, all from one thread: a child asks the kernel for
// SIGKILL at its parent's death, and for that the kernel takes the death of
// the thread that started it (PR_SET_PDEATHSIG(2const)). The thread lives as
// long as the Spawner.
type Spawner struct {
	work chan *birth
	done chan struct{}
	once sync.Once
}

// A birth is one start on its way to the thread and back.
type birth struct {
	cmd   *Command
	files [3]int // standard input, output and error; noFile for /dev/null
	pid   int
	err   error
	over  chan struct{}
}

const noFile = -1

// New makes a Spawner. Its owner closes it when no more is to be started.
func New() (*Spawner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("make spawner: %w", err)
	}
	s := &Spawner{work: make(chan *birth), done: make(chan struct{})}
	go s.loop(null)
	return s, nil
}

// Close ends the thread, and by that kills what still runs of the processes
// that it started. They still want to be reaped.
func (s *Spawner) Close() error {
	s.once.Do(func() { close(s.done) })
	return nil
}

// loop is the thread. It never unlocks: the thread ends with the goroutine.
func (s *Spawner) loop(null *os.File) {
	runtime.LockOSThread()
	defer null.Close()
	for {
		select {
		case b := <-s.work:
			b.pid, b.err = forkExec(b, null.Fd())
			b.over <- struct{}{}
		case <-s.done:
			return
		}
	}
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
	return syscall.ForkExec(b.cmd.Path, []string{b.cmd.Path}, &syscall.ProcAttr{
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
	p := &Process{Stderr: -1}
	b := &birth{cmd: cmd, files: [3]int{noFile, noFile, noFile}, over: make(chan struct{}, 1)}
	var theirs []int
	err := p.plumb(cmd, b, &theirs)
	if err == nil {
		err = s.send(b)
	}
	for _, fd := range theirs {
		unix.Close(fd)
	}
	if err != nil {
		p.CloseFiles()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p.Pid = b.pid
	return p, nil
}

// send has the thread do b.
func (s *Spawner) send(b *birth) error {
	select {
	case s.work <- b:
		<-b.over
		return b.err
	case <-s.done:
		return os.ErrClosed
	}
}
