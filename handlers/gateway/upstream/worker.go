package upstream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

const (
	// graceTime is how long a worker may take to end when it is asked to.
	graceTime = time.Second
	// steady is how long a worker must have lived, or answered anything, to be
	// started again at once.
	steady = time.Second
	// firstRest and longestRest bound the wait before others are started
	// again, when they end for the second time and more. It doubles in between.
	firstRest   = 100 * time.Millisecond
	longestRest = 10 * time.Second
	// downRest is the wait from which on a worker is out of service: requests
	// that wait for it fail, and none is given to it.
	downRest = time.Second
)

// A worker is a process that answers on a socket of its own, and those that
// take its place when it ends.
type worker struct {
	app      *app
	spawner  *spawn.Spawner
	command  spawn.Command
	seat     *seat
	listener *os.File // the socket; kept, so that requests wait in it meanwhile
	socket   *os.File // its place in the file system

	stop chan struct{} // closed at the end
	over chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	process *spawn.Process // nil while none runs
}

// startWorkers makes an application of o.Workers processes of a command.
func startWorkers(name string, o *Options, h *gateway.Host, s *spawn.Spawner, cmd spawn.Command) (*app, error) {
	a := &app{name: name, opts: o, host: h, pool: newPool(o.Queue)}
	for range o.Workers {
		w, err := a.newWorker(s, cmd)
		if err != nil {
			a.close()
			return nil, fmt.Errorf("start workers of %s: %w", name, err)
		}
		a.workers = append(a.workers, w)
		a.pool.raise(w.seat)
		go w.supervise()
	}
	return a, nil
}

func (a *app) newWorker(s *spawn.Spawner, cmd spawn.Command) (*worker, error) {
	w := &worker{app: a, spawner: s, command: cmd, stop: make(chan struct{}), over: make(chan struct{})}
	var err error
	if w.listener, w.socket, err = listen(); err != nil {
		return nil, err
	}
	w.command.Input = w.listener
	w.command.Mute = true
	w.command.Complain = true
	at := fmt.Sprintf("/proc/self/fd/%d", w.socket.Fd())
	w.seat = newSeat(&address{network: "unix", name: at}, a.opts.Protocol)
	w.seat.worker = w
	return w, nil
}

// listen makes a Unix socket that has no name: the file that it was bound to
// is removed at once, and what is left is a descriptor of it, by which this
// process can connect. So nobody else can, and nothing is left behind
// whatever becomes of us.
func listen() (listener, socket *os.File, err error) {
	dir, err := os.MkdirTemp("", "weighstone-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socket", err)
	}
	listener = os.NewFile(uintptr(fd), "listening socket of a worker")
	err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
	if err == nil {
		err = os.NewSyscallError("listen", unix.Listen(fd, 16))
	}
	if err == nil {
		fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		err = os.NewSyscallError("open", err)
	}
	if err != nil {
		listener.Close()
		return nil, nil, err
	}
	return listener, os.NewFile(uintptr(fd), "socket of a worker"), nil
}

// supervise keeps a process running until the worker is closed.
func (w *worker) supervise() {
	defer close(w.over)
	rest, faults := time.Duration(0), 0
	for {
		began, answered := time.Now(), w.app.answered.Load()
		lived := w.live()
		select {
		case <-w.stop:
			return
		default:
		}
		if lived && (time.Since(began) >= steady || w.app.answered.Load() != answered) {
			rest, faults = 0, 0
			continue
		}
		if faults++; faults == 1 {
			continue
		}
		if rest = min(max(2*rest, firstRest), longestRest); !w.rest(rest) {
			return
		}
	}
}

// rest waits for some time, and says whether the worker is to go on then.
func (w *worker) rest(d time.Duration) bool {
	if d >= downRest {
		w.app.pool.lower(w.seat)
		defer w.app.pool.raise(w.seat)
		w.drop()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.stop:
		return false
	}
}

// drop closes the connections that wait in the socket's queue, whose requests
// fail. No process runs.
func (w *worker) drop() {
	fd := int(w.listener.Fd())
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); n == 0 || err != nil && err != unix.EINTR {
			return
		}
		if c, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC); err == nil {
			unix.Close(c)
		}
	}
}

// live runs one process to its end, and says whether it started.
func (w *worker) live() bool {
	log := w.app.host.Log
	p, err := w.spawner.Start(&w.command)
	if err != nil {
		log.Error(w.app.host.Kind+" worker does not start", "program", w.app.name, "err", err)
		return false
	}
	w.set(p)
	errs := os.NewFile(uintptr(p.Stderr), "stderr of a worker")
	p.Stderr = -1
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		w.complain(errs)
	}()
	for !p.Await(time.Now().Add(time.Hour)) {
	}
	w.set(nil)
	p.Kill() // what is left of its group
	status, _ := p.Reap()
	errs.SetReadDeadline(time.Now().Add(250 * time.Millisecond)) // for who left the group
	<-logged
	errs.Close()
	select {
	case <-w.stop:
	default:
		log.Warn(w.app.host.Kind+" worker ended", "program", w.app.name, "pid", p.Pid(), "how", how(status))
		if crashed := w.app.opts.Crashed; crashed != nil && (status.Signaled() || status.ExitStatus() != 0) {
			crashed()
		}
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

// set notes the process, and ends it if the worker is closed meanwhile.
func (w *worker) set(p *spawn.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process = p
	select {
	case <-w.stop:
		if p != nil {
			p.Kill()
		}
	default:
	}
}

// complain logs what the process writes to standard error: so much a minute.
func (w *worker) complain(f *os.File) {
	errs := gateway.Complaints{Host: w.app.host, Script: w.app.name}
	buf := make([]byte, 4<<10)
	for since := time.Now(); ; {
		n, err := f.Read(buf)
		if time.Since(since) > time.Minute {
			since = time.Now()
			errs.Renew()
		}
		errs.Take(buf[:n])
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	errs.Flush()
}

// kill ends the process, and returns its number; another will be started.
func (w *worker) kill() (pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil {
		return 0
	}
	w.process.Kill()
	return w.process.Pid()
}

// close asks the process to end, ends it if it does not, and waits for that.
func (w *worker) close() {
	w.mu.Lock()
	close(w.stop)
	if w.process != nil {
		w.process.Signal(syscall.SIGTERM)
	}
	w.mu.Unlock()
	t := time.NewTimer(graceTime)
	defer t.Stop()
	select {
	case <-w.over:
	case <-t.C:
		w.kill()
		<-w.over
	}
	w.listener.Close()
	w.socket.Close()
}
