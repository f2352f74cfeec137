package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// noConn is for workers that accept by themselves.
const noConn = -1

// spawn starts a worker in a position, for a connection or not. It is called on
// the thread that lives as long as the master serves: when the thread that
// starts a process ends, the kernel takes the parent for dead
// (PR_SET_PDEATHSIG(2const)).
func (s *server) spawn(position, conn int) (*child, error) {
	slots, err := s.board.Claim(1)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	c := &child{position: position, slot: slots[0], started: time.Now()}
	if err := s.exec(c, conn); err != nil {
		s.board.Return(c.slot)
		return nil, fmt.Errorf("start worker: %w", err)
	}
	go c.watch(s.events)
	return c, nil
}

// exec starts the program of c with what it inherits.
func (s *server) exec(c *child, conn int) error {
	config := s.config
	config.Slot, config.Position, config.Conn = s.board.Number(c.slot), c.position, s.model.conn
	var sockets []int
	if conn == noConn {
		sockets = s.share(c.position)
		config.Listeners = len(sockets)
	}
	if s.model.conn == connPassed {
		sockets = []int{conn}
	}
	config.FirstFile, config.Files = listenerFD+len(sockets), len(s.options.Worker.Files)
	arg, err := config.argument()
	if err != nil {
		return err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer unix.Close(theirs)
	null := s.null.Fd()
	files := []uintptr{null, null, uintptr(syscall.Stderr), uintptr(theirs), s.board.File().Fd()}
	if s.model.conn == connStdio {
		files[0], files[1] = uintptr(conn), uintptr(conn)
	}
	for _, fd := range sockets {
		files = append(files, uintptr(fd))
	}
	command := s.options.Worker
	for _, f := range command.Files {
		files = append(files, f.Fd())
	}
	argv := append(append([]string{command.Path}, command.Args...), arg)
	c.pid, err = syscall.ForkExec(command.Path, argv, &syscall.ProcAttr{
		Env: s.environment(), Files: files,
		// A group of its own, so that a terminal's or a supervisor's signals
		// reach the master alone, which drains.
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		ours.Close()
		return fmt.Errorf("%s: %w", command.Path, err)
	}
	c.control = ours
	return nil
}

// environment is a worker's: the command's or this process's own, with what the
// model asks of the Go runtime.
func (s *server) environment() []string {
	env := s.options.Worker.Env
	if env == nil {
		env = os.Environ()
	}
	if s.model.debug == "" {
		return env
	}
	const name = "GODEBUG="
	all := []string{name + s.model.debug}
	for _, v := range env {
		if !strings.HasPrefix(v, name) {
			all = append(all, v)
		} else if rest := strings.TrimPrefix(v, name); rest != "" {
			all[0] += "," + rest
		}
	}
	return all
}

// share are the listening sockets of a position: all of them, or its own, so
// that each socket has somebody who serves it.
func (s *server) share(position int) []int {
	if s.model.shared {
		return s.listeners
	}
	var share []int
	n := s.model.bounds.max
	for i, fd := range s.listeners {
		if i%n == position || len(s.listeners) < n && position%len(s.listeners) == i {
			share = append(share, fd)
		}
	}
	return share
}

// socketPair makes a control socket: the master's end in the runtime's poller,
// the worker's blocking.
func socketPair() (ours *os.File, theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("socketpair: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, -1, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "control"), pair[1], nil
}
