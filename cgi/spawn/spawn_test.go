package spawn_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone/cgi/spawn"
)

func newSpawner(t *testing.T) *spawn.Spawner {
	t.Helper()
	old := goleak.IgnoreCurrent()
	s, err := spawn.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		goleak.VerifyNone(t, old)
	})
	return s
}

func script(t *testing.T, text string) *spawn.Command {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return &spawn.Command{Path: path, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func start(t *testing.T, s *spawn.Spawner, cmd *spawn.Command) *spawn.Process {
	t.Helper()
	p, err := s.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseFiles)
	return p
}

func await(t *testing.T, p *spawn.Process) syscall.WaitStatus {
	t.Helper()
	if !p.Await(time.Now().Add(20 * time.Second)) {
		t.Fatal("the process did not end")
	}
	status, ok := p.Reap()
	if !ok {
		t.Fatal("ended and not to be reaped")
	}
	return status
}

func TestStart(t *testing.T) {
	s := newSpawner(t)
	cmd := script(t, "read line; echo \"$line $PWD\"; exit 3")
	cmd.Feed = true
	p := start(t, s, cmd)
	io.WriteString(p.Stdin, "hello\n")
	out, err := io.ReadAll(p.Stdout)
	if want := "hello " + cmd.Dir + "\n"; string(out) != want || err != nil {
		t.Errorf("%q, error %v; want %q", out, err, want)
	}
	if status := await(t, p); status.ExitStatus() != 3 {
		t.Errorf("exit status %d, want 3", status.ExitStatus())
	}
	if again, ok := p.Reap(); !ok || again.ExitStatus() != 3 {
		t.Error("the status can be had once only")
	}
	if !p.Await(time.Now()) {
		t.Error("a reaped process is still awaited")
	}
}

func TestInputFromFile(t *testing.T) {
	s := newSpawner(t)
	cmd := script(t, "cat")
	f, err := os.Open(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.Input = f
	p := start(t, s, cmd)
	if out, err := io.ReadAll(p.Stdout); string(out) != "#!/bin/sh\ncat" || err != nil {
		t.Errorf("%q, error %v", out, err)
	}
	await(t, p)
}

func TestAwaitGivesUp(t *testing.T) {
	s := newSpawner(t)
	p := start(t, s, script(t, "exec sleep 60"))
	if p.Await(time.Now().Add(20 * time.Millisecond)) {
		t.Error("ended")
	}
	if _, ok := p.Reap(); ok {
		t.Error("reaped a process that runs")
	}
	p.Kill()
	if status := await(t, p); status.Signal() != syscall.SIGKILL {
		t.Errorf("ended by %v", status.Signal())
	}
}

// TestKillReachesGroup: the pipe ends only when the grandchild has.
func TestKillReachesGroup(t *testing.T) {
	s := newSpawner(t)
	p := start(t, s, script(t, "sleep 60 & echo; wait"))
	p.Stdout.Read(make([]byte, 1))
	p.Kill()
	p.Stdout.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(p.Stdout); err != nil {
		t.Errorf("the grandchild lives: %v", err)
	}
	await(t, p)
}

// TestClose: processes outlive the goroutines that asked for them, and end with
// the spawner.
func TestClose(t *testing.T) {
	s := newSpawner(t)
	cmd := script(t, "exec sleep 60")
	var p *spawn.Process
	var wg sync.WaitGroup
	wg.Go(func() { p = start(t, s, cmd) })
	wg.Wait()
	if p.Await(time.Now().Add(100 * time.Millisecond)) {
		t.Error("ended with the goroutine that started it")
	}
	s.Close()
	if status := await(t, p); status.Signal() != syscall.SIGKILL {
		t.Errorf("ended by %v", status.Signal())
	}
	if _, err := s.Start(cmd); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v from a closed spawner", err)
	}
}

func TestStartFails(t *testing.T) {
	s := newSpawner(t)
	before, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	cmd := script(t, "")
	cmd.Feed, cmd.Complain = true, true
	cmd.Path += "-missing"
	if _, err := s.Start(cmd); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), cmd.Path) {
		t.Errorf("error %v", err)
	}
	if after, err := os.ReadDir("/proc/self/fd"); err != nil || len(after) > len(before) {
		t.Errorf("%d descriptors, %d before; error %v", len(after), len(before), err)
	}
}

// TestAwaitWithoutDescriptors: where no descriptor is free the end is still
// noticed.
func TestAwaitWithoutDescriptors(t *testing.T) {
	s := newSpawner(t)
	p := start(t, s, script(t, "sleep 0.1; exit 3"))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	if status := await(t, p); status.ExitStatus() != 3 {
		t.Errorf("exit status %d, want 3", status.ExitStatus())
	}
}
