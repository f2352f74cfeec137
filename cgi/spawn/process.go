package spawn

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Command is what to start.
type Command struct {
	Path string   // absolute
	Args []string // the first is the program's name; none means Path alone
	Dir  string   // working directory
	Env  []string // the whole environment, NAME=value

	Input    *os.File // standard input, still the caller's; nil for /dev/null or Feed
	Feed     bool     // standard input is a pipe: Process.Stdin
	Mute     bool     // standard output is /dev/null, and Process.Stdout nil
	Complain bool     // standard error is a pipe: Process.Stderr; else /dev/null
}

// A Process is a program that was started. The pipe ends are the caller's, to
// be closed with CloseFiles; the process wants to be reaped by Reap, whatever
// became of its pipes.
type Process struct {
	Child
	Stdin  *os.File // nil unless fed; in Go's poller, like Stdout: deadlines work
	Stdout *os.File // nil if mute
	Stderr int      // a non-blocking descriptor outside the poller, -1 for none
}

// A Child is a program as who started it knows it. Any number of goroutines
// may call its methods.
type Child interface {
	// Pid returns its number, 0 where it can't be known.
	Pid() int
	// Signal sends a signal to the whole process group, unless the process has
	// been reaped.
	Signal(syscall.Signal)
	// Await waits until the process has ended, without reaping it, or until
	// limit, and says which: true when it has ended. It ties no thread.
	Await(limit time.Time) bool
	// Reap takes the exit status if the process has ended, and says whether it
	// has. It does not wait.
	Reap() (syscall.WaitStatus, bool)
	// Reaped returns the exit status if it has been taken already.
	Reaped() (syscall.WaitStatus, bool)
	// Err says, once it was reaped, why the program did not run or what became
	// of it can't be known; nil for all others.
	Err() error
}

// Kill ends the whole process group at once, unless the process has been
// reaped: from then on its number may be another's. So who wants the
// grandchildren to end too kills before reaping.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// NoFile stands for a descriptor of /dev/null.
const NoFile = -1

// Connect makes the pipes that cmd asks for and has the program started with
// its standard input, output and error, which stay the caller's.
func Connect(cmd *Command, start func(files [3]int) (Child, error)) (*Process, error) {
	p := &Process{Stderr: -1}
	files := [3]int{NoFile, NoFile, NoFile}
	var theirs []int
	err := p.plumb(cmd, &files, &theirs)
	if err == nil {
		p.Child, err = start(files)
	}
	for _, fd := range theirs {
		unix.Close(fd)
	}
	if err != nil {
		p.CloseFiles()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// plumb makes the pipes: the process's ends go to files and to theirs.
func (p *Process) plumb(cmd *Command, files *[3]int, theirs *[]int) error {
	var err error
	var r, w int
	switch {
	case cmd.Input != nil:
		files[0] = int(cmd.Input.Fd())
	case cmd.Feed:
		if r, w, err = pipe(1); err != nil {
			return err
		}
		*theirs = append(*theirs, r)
		files[0] = r
		p.Stdin = os.NewFile(uintptr(w), "stdin of a script")
	}
	if !cmd.Mute {
		if r, w, err = pipe(0); err != nil {
			return err
		}
		*theirs = append(*theirs, w)
		files[1] = w
		p.Stdout = os.NewFile(uintptr(r), "stdout of a script")
	}
	if !cmd.Complain {
		return nil
	}
	if r, w, err = pipe(0); err != nil {
		return err
	}
	*theirs = append(*theirs, w)
	files[2] = w
	p.Stderr = r
	return nil
}

// pipe makes a pipe whose end number ours (0 reads, 1 writes) does not block.
func pipe(ours int) (r, w int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, os.NewSyscallError("pipe2", err)
	}
	if err := unix.SetNonblock(p[ours], true); err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return 0, 0, os.NewSyscallError("fcntl", err)
	}
	return p[0], p[1], nil
}

// CloseFiles closes our ends of the pipes. The process learns of it when it
// reads or writes.
func (p *Process) CloseFiles() {
	if p.Stdin != nil {
		p.Stdin.Close()
	}
	if p.Stdout != nil {
		p.Stdout.Close()
	}
	p.CloseStderr()
}

// CloseStderr closes our end of standard error, once.
func (p *Process) CloseStderr() {
	if p.Stderr >= 0 {
		unix.Close(p.Stderr)
		p.Stderr = -1
	}
}
