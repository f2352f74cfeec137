package tests

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/testproc"
)

// A row is what the program's own table says of a variant; Refused says why this
// machine can't run it.
type row struct {
	Name, Family, Refused string
	Keepalive             bool
}

// table is what the program itself says of its variants.
func table(t *testing.T) []row {
	t.Helper()
	out, err := exec.Command(built.program, "variants", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// variants are the names of all but those that this machine refuses, which are
// told with the reason: whether there is io_uring is the kernel's choice.
func variants(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, r := range table(t) {
		if r.Refused != "" {
			t.Logf("%s: %s", r.Name, r.Refused)
			continue
		}
		names = append(names, r.Name)
	}
	return names
}

// families are the names of one variant of each family, the plainest: the
// others have most of their code from it. With CI=true they are all, but not
// under the race detector, which a family's code needs to pass once.
func families(t *testing.T) []string {
	t.Helper()
	if os.Getenv("WEIGHSTONE_SOAK") != "" || os.Getenv("CI") == "true" && len(buildFlags) == 0 {
		return variants(t)
	}
	plainest := []string{"nethttp", "epoll", "uring", "thread-pool", "symped"}
	var names []string
	seen := map[string]bool{}
	for _, plain := range []bool{true, false} {
		for _, r := range table(t) {
			if r.Refused == "" && !seen[r.Family] && slices.Contains(plainest, r.Name) == plain {
				seen[r.Family] = true
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// rowOf is the row of one variant.
func rowOf(t *testing.T, variant string) row {
	t.Helper()
	for _, r := range table(t) {
		if r.Name == variant {
			return r
		}
	}
	t.Fatalf("no variant %s", variant)
	return row{}
}

// patience bounds what a test waits for. It is no expectation.
const patience = 30 * time.Second

// A server is a running weighstone: one process after another, if it is
// restarted.
type server struct {
	t       *testing.T
	variant string
	addr    string
	pid     int // of the process that serves now

	ready   chan string // its lines on stdout
	stderr  *testproc.Journal
	wrapper int // the pid of a tool that runs the first process, or 0
	ended   bool
}

var readyLine = regexp.MustCompile(`^weighstone (\S+) ready http://(\S+) pid (\d+)$`)

// serve starts a variant on a free port. It is ended with the test.
func serve(t *testing.T, variant string, flags ...string) *server {
	t.Helper()
	return serveUnder(t, nil, variant, flags...)
}

// serveUnder is serve with a tool, given as a command line, that runs the
// program and ends with it and its status.
func serveUnder(t *testing.T, tool []string, variant string, flags ...string) *server {
	t.Helper()
	stdout, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, variant: variant, ready: make(chan string, 16), stderr: new(testproc.Journal)}
	stderr, errs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(tool, []string{built.program, "serve", variant, "--addr", "127.0.0.1:0", "--fixtures", built.fixtures}, flags)
	path, err := exec.LookPath(args[0])
	if err != nil {
		t.Fatal(err)
	}
	// No os/exec: its Wait would wait for the output of the successors too.
	p, err := os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{nil, w, errs}})
	w.Close()
	errs.Close()
	if err != nil {
		t.Fatal(err)
	}
	started := p.Pid
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	go s.listen(stdout)
	go io.Copy(s.stderr, stderr)
	t.Cleanup(func() {
		s.stop()
		stdout.Close()
		stderr.Close()
	})
	if len(tool) > 0 {
		s.wrapper = started
		s.addr = s.await(0)
	} else {
		s.addr = s.await(started)
	}
	return s
}

// listen hands on the lines that the processes print on stdout.
func (s *server) listen(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		s.ready <- lines.Text()
	}
	close(s.ready)
}

// await waits for the ready line of a process, with this pid if it is not 0,
// and returns the address in it.
func (s *server) await(pid int) (addr string) {
	s.t.Helper()
	select {
	case line, ok := <-s.ready:
		m := readyLine.FindStringSubmatch(line)
		if !ok || m == nil || m[1] != s.variant || pid != 0 && m[3] != strconv.Itoa(pid) {
			s.t.Fatalf("ready line %q (of pid %d); stderr: %s", line, pid, s.stderr)
		}
		s.pid, _ = strconv.Atoi(m[3])
		return m[2]
	case <-time.After(patience):
		s.t.Fatalf("no ready line; stderr: %s", s.stderr)
	}
	return ""
}

// restart replaces the serving process, and returns when its successor serves.
// The old process drains; the caller is to reap it.
func (s *server) restart() (old int) {
	s.t.Helper()
	old = s.pid
	if err := syscall.Kill(old, syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	if addr := s.await(0); addr != s.addr {
		s.t.Errorf("the successor serves %s, not %s", addr, s.addr)
	}
	if s.pid == old {
		s.t.Errorf("the successor has the pid of its predecessor, %d", old)
	}
	return old
}

// stop ends the server by SIGTERM, on which it is to exit with status 0.
func (s *server) stop() {
	s.t.Helper()
	if s.ended || s.pid == 0 {
		return
	}
	s.ended = true
	if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
		s.t.Errorf("end pid %d: %v", s.pid, err)
	}
	if s.wrapper != 0 {
		s.reap(s.wrapper)
	} else {
		s.reap(s.pid)
	}
	if s.t.Failed() {
		s.t.Logf("stderr of the server: %s", s.stderr)
	}
}

// reap waits for the end of a process, which must be exit status 0. One that
// outlives our patience is killed.
func (s *server) reap(pid int) {
	s.t.Helper()
	timer := time.AfterFunc(patience, func() { syscall.Kill(pid, syscall.SIGKILL) })
	defer timer.Stop()
	var status syscall.WaitStatus
	for end := time.Now().Add(patience); ; {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		// A successor becomes our child when its parent has ended, which the
		// caller has seen but the kernel may have still to do.
		if errors.Is(err, syscall.ECHILD) && time.Now().Before(end) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			s.t.Errorf("wait for pid %d: %v", pid, err)
		} else if !status.Exited() || status.ExitStatus() != 0 {
			s.t.Errorf("pid %d ended with %v; stderr: %s", pid, describe(status), s.stderr)
		}
		return
	}
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "signal " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// port is the port of the server's address.
func (s *server) port() string {
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	return port
}
