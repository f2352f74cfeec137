package proc

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// tailLines is how many of a process's last lines on stderr are kept.
const tailLines = 20

// maxLine bounds a line that is kept, in bytes.
const maxLine = 4096

// A Process is a child that was started. Its methods may be used by several
// goroutines, also after its end.
type Process struct {
	cmd    *exec.Cmd
	stop   syscall.Signal
	stdout lineWriter
	stderr lineWriter
	lines  chan string

	mu   sync.Mutex
	tail []string

	done chan struct{} // closed when the process has ended and was reaped
	err  error         // how it ended; read after done
}

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Line returns the next line of standard output. It fails when the process
// ends first or ctx does. Lines beyond the first 64 that nobody took are lost.
func (p *Process) Line(ctx context.Context) (string, error) {
	select {
	case line := <-p.lines:
		return line, nil
	default:
	}
	select {
	case line := <-p.lines:
		return line, nil
	case <-p.done:
		select {
		case line := <-p.lines: // printed right before the end
			return line, nil
		default:
			return "", p.Died()
		}
	case <-ctx.Done():
		return "", fmt.Errorf("wait for a line of %s: %w%s", p.name(), ctx.Err(), p.said())
	}
}

// Died returns an error that says how the process ended and what it said last;
// nil while it runs.
func (p *Process) Died() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended: %s%s", p.name(), how, p.said())
}

func (p *Process) name() string { return fmt.Sprintf("%s (pid %d)", p.cmd.Path, p.Pid()) }

// said is the tail of stderr as the end of an error message.
func (p *Process) said() string {
	tail := p.Tail()
	if len(tail) == 0 {
		return ""
	}
	return "; its last lines were:\n\t" + strings.Join(tail, "\n\t")
}

// Tail returns the last lines of standard error.
func (p *Process) Tail() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.tail...)
}

// Stop asks the process to end with its stop signal and waits until ctx ends;
// then it kills it with all its descendants. Either way nothing of its process
// group is left. It returns nil when the process ended, by itself or for the
// signal, with status 0 or by that signal; else how it ended.
func (p *Process) Stop(ctx context.Context) error {
	if ctx.Err() == nil {
		p.signal(p.stop)
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
		}
	}
	select {
	case <-p.done:
		return p.ended()
	default:
	}
	// The descendants first: while their parent lives they can't be mistaken.
	for _, pid := range Descendants(p.Pid()) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	p.signal(syscall.SIGKILL)
	<-p.done
	return fmt.Errorf("%s did not end in time and was killed%s", p.name(), p.said())
}

func (p *Process) ended() error {
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == p.stop {
		return nil
	}
	if p.err != nil {
		return p.Died()
	}
	return nil
}

// signal does nothing to a process that has ended (os.Process knows).
func (p *Process) signal(sig syscall.Signal) { p.cmd.Process.Signal(sig) }

// wait ends what is left of the process's group when it has ended, and reaps
// it: in that order, so that the group's number still belongs to it and nobody
// holds its pipes open.
func (p *Process) wait() {
	for unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	syscall.Kill(-p.Pid(), syscall.SIGKILL)
	p.err = p.cmd.Wait()
	p.stdout.flush()
	p.stderr.flush()
	close(p.done)
}

func (p *Process) print(line string) {
	select {
	case p.lines <- line:
	default:
	}
}

func (p *Process) complain(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tail) == tailLines {
		p.tail = append(p.tail[:0], p.tail[1:]...)
	}
	p.tail = append(p.tail, line)
}

// A lineWriter cuts what is written to it into lines.
type lineWriter struct {
	rest []byte
	emit func(line string)
}

func (w *lineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		w.keep(b[:i])
		w.flush()
		b = b[i+1:]
	}
	w.keep(b)
	return n, nil
}

func (w *lineWriter) keep(b []byte) {
	w.rest = append(w.rest, b[:min(len(b), maxLine-min(len(w.rest), maxLine))]...)
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.emit(string(bytes.TrimSuffix(w.rest, []byte("\r"))))
	}
	w.rest = w.rest[:0]
}
