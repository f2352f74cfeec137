// Package keeper has the CGI helper run (package helper): it is what the server
// keeps of it, beside the clients in its processes.
package keeper

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/spawn"
)

const (
	// steady is how long a helper must have lived for its end to say nothing
	// about the next one's chances.
	steady = time.Second
	// firstRest and longestRest bound the wait before another is started, when
	// they end young for the second time and more. It doubles in between.
	firstRest   = 100 * time.Millisecond
	longestRest = 10 * time.Second
	// backlog is how many connections may wait: those of many processes, while
	// the helper starts a program for each.
	backlog = 1024
)

// A Keeper has a helper run: from the first connection on, and another one
// when it ends.
type Keeper struct {
	path    string
	address string
	log     *slog.Logger
	spawner *spawn.Spawner

	listener *os.File // the socket, outside Go's poller, as the helper gets it
	wake     *os.File // the same in the poller

	stop chan struct{} // closed at the end
	over chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	process *spawn.Process // nil while none runs
}

// New makes a keeper of the helper program at path. Its owner closes it
// when no client asks any more. log may not be nil.
func New(path string, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{path: path, address: "@weighstone-" + rand.Text(), log: log, stop: make(chan struct{}), over: make(chan struct{})}
	var err error
	if k.spawner, err = spawn.New(); err != nil {
		return nil, fmt.Errorf("keep a CGI helper: %w", err)
	}
	if err := k.listen(); err != nil {
		k.spawner.Close()
		return nil, fmt.Errorf("keep a CGI helper: %w", err)
	}
	go k.supervise()
	return k, nil
}

// listen opens the socket. Of its two files one is made while it still blocks,
// so that taking its descriptor for the helper leaves it as it is.
func (k *Keeper) listen() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	k.listener = os.NewFile(uintptr(fd), "listening socket of the CGI helper")
	var other int
	if err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrUnix{Name: k.address})); err == nil {
		err = os.NewSyscallError("listen", unix.Listen(fd, backlog))
	}
	if err == nil {
		err = os.NewSyscallError("fcntl", unix.SetNonblock(fd, true))
	}
	if err == nil {
		other, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		err = os.NewSyscallError("fcntl", err)
	}
	if err != nil {
		k.listener.Close()
		return err
	}
	k.wake = os.NewFile(uintptr(other), "listening socket of the CGI helper")
	return nil
}

// Address is where the helper is found.
func (k *Keeper) Address() string { return k.address }

// supervise keeps a helper running from when the first client connects.
func (k *Keeper) supervise() {
	defer close(k.over)
	for ready := false; !ready; {
		var err error
		if ready, err = spawn.AwaitReadable(k.wake, time.Time{}); err != nil {
			return
		}
	}
	rest, faults := time.Duration(0), 0
	for {
		began := time.Now()
		lived := k.live() && time.Since(began) >= steady
		select {
		case <-k.stop:
			return
		default:
		}
		if lived {
			rest, faults = 0, 0
			continue
		}
		if faults++; faults == 1 {
			continue
		}
		rest = min(max(2*rest, firstRest), longestRest)
		k.refuse(time.Now().Add(rest))
	}
}

// refuse hangs up on who connects until the time given: there is no helper.
func (k *Keeper) refuse(until time.Time) {
	for {
		ready, err := spawn.AwaitReadable(k.wake, until)
		if err != nil || !ready {
			return
		}
		fd, _, err := unix.Accept4(int(k.listener.Fd()), unix.SOCK_CLOEXEC)
		if err == nil {
			unix.Close(fd)
		}
	}
}

// live runs one helper to its end, and says whether it started.
func (k *Keeper) live() bool {
	p, err := k.spawner.Start(&spawn.Command{Path: k.path, Dir: "/", Env: []string{}, Input: k.listener, Mute: true, Complain: true})
	if err != nil {
		k.log.Error("the CGI helper does not start", "err", err)
		return false
	}
	k.set(p)
	errs := os.NewFile(uintptr(p.Stderr), "stderr of the CGI helper")
	p.Stderr = -1
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		k.complain(errs)
	}()
	for !p.Await(time.Now().Add(time.Hour)) {
	}
	k.set(nil)
	status, _ := p.Reap()
	errs.SetReadDeadline(time.Now().Add(time.Second))
	<-logged
	errs.Close()
	select {
	case <-k.stop:
	default:
		k.log.Warn("the CGI helper ended, and its programs with it", "pid", p.Pid(), "how", how(status))
	}
	return true
}

// how describes an exit status.
func how(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "signal " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// complain logs what the helper says, which it does only when it ends.
func (k *Keeper) complain(f io.Reader) {
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		k.log.Warn("CGI helper standard error", "line", lines.Text())
	}
}

// set notes the process, and ends it if the keeper is closed meanwhile.
func (k *Keeper) set(p *spawn.Process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process = p
	select {
	case <-k.stop:
		if p != nil {
			p.Kill()
		}
	default:
	}
}

// Close ends the helper, and with it the programs that still run.
func (k *Keeper) Close() error {
	k.mu.Lock()
	select {
	case <-k.stop: // closed before
		k.mu.Unlock()
		return nil
	default:
	}
	close(k.stop)
	if k.process != nil {
		k.process.Kill()
	}
	k.mu.Unlock()
	k.wake.Close()
	<-k.over
	k.listener.Close()
	return k.spawner.Close()
}
