package handoff

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A line of processes, the first of which this test has started.
type line struct {
	t     *testing.T
	dir   string
	said  chan string
	addrs []string
	pid   int // of the process that said ready last
}

func start(t *testing.T, flags uintptr) *line {
	t.Helper()
	l := &line{t: t, dir: t.TempDir(), said: make(chan string, 100)}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), dirVariable+"="+l.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() { // to the end of the last process that has the pipe
		defer close(l.said)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			l.said <- sc.Text()
		}
	}()
	t.Cleanup(func() {
		l.signal(syscall.SIGTERM)
		hard := time.AfterFunc(5*time.Second, func() { l.signal(syscall.SIGKILL); cmd.Process.Kill() })
		defer hard.Stop()
		for range l.said {
		}
		r.Close()
		cmd.Wait()
	})
	l.pid = cmd.Process.Pid
	return l
}

// expect returns the next line, which must contain all of want.
func (l *line) expect(want ...string) string {
	l.t.Helper()
	select {
	case s, ok := <-l.said:
		for _, w := range want {
			if !ok || !strings.Contains(s, w) {
				l.t.Fatalf("server said %q, want %q in it", s, w)
			}
		}
		return s
	case <-time.After(30 * time.Second):
		l.t.Fatalf("server said nothing, want %q", want)
		return ""
	}
}

// expectReady reads a ready line and takes over what it says.
func (l *line) expectReady(inherited bool) {
	l.t.Helper()
	s := l.expect("ready", fmt.Sprintf("inherited=%v listeners=3", inherited))
	var addrs string
	if _, err := fmt.Sscanf(s, "ready %d inherited=%t listeners=3 %s", &l.pid, new(bool), &addrs); err != nil {
		l.t.Fatalf("%q: %v", s, err)
	}
	l.addrs = strings.Split(addrs, ",")
}

// restart makes the line go on with another process.
func (l *line) restart() {
	l.t.Helper()
	old := l.pid
	l.signal(syscall.SIGHUP)
	for range 2 { // the two processes speak in either order
		s := l.expect()
		if strings.HasPrefix(s, "ready") {
			fmt.Sscanf(s, "ready %d inherited=true listeners=3", &l.pid)
			// Whatever this test was started with, too.
			if want := " child=0,1,2,3"; !strings.HasSuffix(s, want) {
				l.t.Errorf("the successor's child inherits more than it should: %s, want%s", s, want)
			}
		} else if s != "restarted: <nil>" {
			l.t.Fatalf("server said %q", s)
		}
	}
	if l.pid == old {
		l.t.Fatal("no successor")
	}
}

func (l *line) signal(s syscall.Signal) { syscall.Kill(l.pid, s) }

func (l *line) set(name string, on bool) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if on {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			l.t.Fatal(err)
		}
	} else if err := os.Remove(path); err != nil {
		l.t.Fatal(err)
	}
}

// checkServed asks every listener who answers, and looks at the pid file.
func (l *line) checkServed() {
	l.t.Helper()
	for i, addr := range l.addrs {
		want := fmt.Sprintf("%d %d", l.pid, i)
		if got := ask(l.t, addr); got != want {
			l.t.Errorf("%s answered %q, want %q", addr, got, want)
		}
	}
	l.checkPIDFile()
}

func (l *line) checkPIDFile() {
	l.t.Helper()
	pid, err := os.ReadFile(filepath.Join(l.dir, "pid"))
	if err != nil || string(pid) != fmt.Sprint(l.pid) {
		l.t.Errorf("pid file %q (%v), want %d", pid, err, l.pid)
	}
}

func ask(t *testing.T, addr string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// awaitEnd waits until a process is gone or a zombie, as the line's first one
// stays until the test reaps it.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d never ended", pid)
		}
	}
}

func TestRestartKeepsListeners(t *testing.T) {
	l := start(t, 0)
	l.expectReady(false)
	l.checkServed()
	first := l.addrs
	for range 3 {
		old := l.pid
		l.restart()
		awaitEnd(t, old)
		l.addrs = first
		l.checkServed()
	}
}

func TestFailedSuccessor(t *testing.T) {
	l := start(t, 0)
	l.expectReady(false)
	l.set("fail", true)
	for range 2 {
		l.signal(syscall.SIGHUP)
		l.expect("server: told to fail")
		l.expect("restarted: restart:", "exited: exit status 1")
		l.checkServed()
	}
	l.set("fail", false)
	old := l.pid
	l.restart()
	awaitEnd(t, old)
	l.checkServed()
}

func TestRestartRefusedWhileDraining(t *testing.T) {
	l := start(t, 0)
	l.expectReady(false)
	old := l.pid
	l.set("hold", true)
	l.restart()
	l.signal(syscall.SIGHUP)
	l.expect(ErrDraining.Error())
	l.checkPIDFile()
	l.set("hold", false)
	awaitEnd(t, old)
	l.checkServed()
}

func TestInitRefusesRestart(t *testing.T) {
	flags := uintptr(syscall.CLONE_NEWPID)
	if os.Getuid() != 0 {
		flags |= syscall.CLONE_NEWUSER
	}
	l := start(t, flags)
	outside := l.pid
	l.expectReady(false)
	if l.pid != 1 {
		t.Fatalf("pid %d in a namespace of its own, want 1", l.pid)
	}
	l.pid = outside
	l.signal(syscall.SIGHUP)
	l.expect(ErrInit.Error())
}
