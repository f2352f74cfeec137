package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST_ROLE") {
	case "":
		goleak.VerifyTestMain(m)
	case "orphans": // starts a child and is then killed
		p, err := NewSpawner().Start(Command{Path: "/bin/sleep", Args: []string{"600"}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(p.Pid())
		select {}
	}
}

func spawner(t *testing.T) *Spawner {
	s := NewSpawner()
	t.Cleanup(s.Close)
	return s
}

func start(t *testing.T, s *Spawner, c Command) *Process {
	t.Helper()
	p, err := s.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shell(script string, cpus ...int) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, CPUs: cpus}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// gone waits until pid is no process, or one of somebody else's dead ones.
func gone(t *testing.T, pid int) {
	t.Helper()
	ctx := within(t)
	for {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(raw), ") Z ") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d is still there", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestLinesAndTail(t *testing.T) {
	p := start(t, spawner(t), shell(`echo one; echo two; for i in $(seq 30); do echo "e$i" >&2; done; printf last >&2; exit 3`))
	for _, want := range []string{"one", "two"} {
		if line, err := p.Line(within(t)); err != nil || line != want {
			t.Fatalf("got %q, %v; want %q", line, err, want)
		}
	}
	<-p.Done()
	tail := p.Tail()
	if len(tail) != tailLines || tail[0] != "e12" || tail[tailLines-1] != "last" {
		t.Errorf("tail is %q", tail)
	}
	_, err := p.Line(within(t))
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "\n\tlast") {
		t.Errorf("a line after the end: %v", err)
	}
	if err := p.Stop(within(t)); err == nil {
		t.Error("stopping a process that failed says nothing")
	}
}

func TestLineTimeout(t *testing.T) {
	p := start(t, spawner(t), shell("echo starting >&2; kill -STOP $$"))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Line(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestStop(t *testing.T) {
	s := spawner(t)
	for _, c := range []struct {
		name, script string
		killed       bool
	}{
		{"by the signal", "echo up; while :; do sleep 0.05; done", false},
		{"by its own exit", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", false},
		{"never", "trap '' TERM; sleep 600 & echo up $!; while :; do sleep 0.05; done", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, s, shell(c.script))
			line, err := p.Line(within(t))
			if err != nil {
				t.Fatal(err)
			}
			grace := 20 * time.Second
			if c.killed {
				grace = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			if err := p.Stop(ctx); (err != nil) != c.killed {
				t.Errorf("stop: %v", err)
			}
			gone(t, p.Pid())
			if child, err := strconv.Atoi(strings.TrimPrefix(line, "up ")); err == nil {
				gone(t, child)
			}
		})
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	s := NewSpawner()
	p := start(t, s, shell("trap '' TERM; sleep 600 & echo $!; wait"))
	line, err := p.Line(within(t))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	gone(t, p.Pid())
	gone(t, child)
	if _, err := s.Start(shell("true")); !errors.Is(err, errClosed) {
		t.Errorf("start after close: %v", err)
	}
}

func TestChildrenDieWithTheirParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, spawner(t), Command{Path: self, Env: []string{"PROC_TEST_ROLE=orphans"}})
	line, err := p.Line(within(t))
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(p.Pid(), syscall.SIGKILL)
	<-p.Done()
	gone(t, grandchild)
}

func TestAffinity(t *testing.T) {
	cpus := CPUs()
	if len(cpus) == 0 {
		t.Fatal("no cores")
	}
	last := cpus[len(cpus)-1]
	s := spawner(t)
	const show = "grep Cpus_allowed_list /proc/self/status"
	for _, c := range []struct {
		cpus []int
		want string
	}{{[]int{last}, strconv.Itoa(last)}, {nil, ""}} {
		line, err := start(t, s, shell(show, c.cpus...)).Line(within(t))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(strings.TrimPrefix(line, "Cpus_allowed_list:"))
		if c.want != "" && got != c.want {
			t.Errorf("pinned to %v runs on %s", c.cpus, got)
		}
		if c.want == "" && len(cpus) > 1 && got == strconv.Itoa(last) {
			t.Error("the affinity of the first child stuck to the thread")
		}
	}
	if _, err := s.Start(shell("true", 1000)); err == nil {
		t.Error("a core that does not exist is accepted")
	}
	if _, err := s.Start(Command{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that does not exist: %v", err)
	}
}

// burn is a shell loop that uses CPU.
const burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"

func TestUsage(t *testing.T) {
	s := spawner(t)
	for _, c := range []struct {
		name, script string
		processes    int
	}{
		{"its own", burn + "; echo done; kill -STOP $$", 1},
		{"of a child that was waited for", "sh -c '" + burn + "; :'; echo done; kill -STOP $$", 1},
		{"of a child that lives", "sh -c '" + burn + "; echo done; kill -STOP $$' & wait", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, s, shell(c.script))
			before, err := p.Usage()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Line(within(t)); err != nil {
				t.Fatal(err)
			}
			after, err := p.Usage()
			if err != nil {
				t.Fatal(err)
			}
			used := after.Sub(before)
			split := used.User + used.System
			if used.CPU < 10*time.Millisecond || (split-used.CPU).Abs() > 4*tick {
				t.Errorf("used %v, split %v user and %v system", used.CPU, used.User, used.System)
			}
			if used.Processes != c.processes || used.Threads != c.processes || used.RSS == 0 || used.MinorFaults == 0 {
				t.Errorf("got %+v", used)
			}
			if after.Voluntary+after.Involuntary == 0 {
				t.Error("no context switch at all")
			}
		})
	}
}

func TestUsageAfterTheEnd(t *testing.T) {
	p := start(t, spawner(t), shell("echo the reason >&2; exit 7"))
	<-p.Done()
	_, err := p.Usage()
	if err == nil || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("got %v", err)
	}
	if _, err := Measure(1 << 30); err == nil {
		t.Error("a process that can't be there is measured")
	}
}

func TestCoreTime(t *testing.T) {
	cpu := CPUs()[:1]
	before, err := CoreTime(cpu)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, spawner(t), shell(strings.Repeat(burn+"; ", 3)+"echo done; kill -STOP $$", cpu...))
	if _, err := p.Line(within(t)); err != nil {
		t.Fatal(err)
	}
	after, err := CoreTime(cpu)
	if err != nil {
		t.Fatal(err)
	}
	used, err := p.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if after-before < used.CPU-3*tick {
		t.Errorf("the core worked for %v, a process on it for %v", after-before, used.CPU)
	}
	if _, err := CoreTime([]int{100_000}); err == nil {
		t.Error("a core that is not there is busy")
	}
}
