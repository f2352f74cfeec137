package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// missing skips a test for want of a tool, and fails it in CI.
func missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func root(t *testing.T) (dir string, probe Probe) {
	t.Helper()
	dir = t.TempDir()
	body := bytes.Repeat([]byte("0123456789"), 10)
	if err := os.WriteFile(filepath.Join(dir, "100.html"), body, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, Probe{Path: "/100.html", Body: body}
}

func options(t *testing.T, probe Probe) Options {
	s := proc.NewSpawner()
	t.Cleanup(s.Close)
	return Options{Spawner: s, CPUs: proc.CPUs()[:1], Probe: probe}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func script(name, text string, announces bool) Recipe {
	return Recipe{Name: name, Path: "/bin/sh", Announces: announces,
		Args: func(port int, _ string) []string { return []string{"-c", text, name, fmt.Sprint(port)} }}
}

// buildFloor compiles the floor program.
func buildFloor(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		missing(t, err)
	}
	program := filepath.Join(t.TempDir(), "floor")
	if out, err := exec.Command(cc, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "../floor/floor.c").CombinedOutput(); err != nil {
		t.Fatalf("compile the floor: %v\n%s", err, out)
	}
	return program
}

// exercise starts s twice, and checks what it answers and that it uses CPU.
func exercise(t *testing.T, s Subject, probe Probe) {
	t.Helper()
	for range 2 {
		ctx := within(t, 20*time.Second)
		base, err := s.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Usage()
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if err := probe.once(ctx, base); err != nil {
				t.Fatal(err)
			}
		}
		after, err := s.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if used := after.Sub(before); used.CPU <= 0 || used.RSS == 0 {
			t.Errorf("50 requests used %+v", used)
		}
		if err := s.Died(); err != nil {
			t.Error(err)
		}
		if pid, err := s.Pid(); err != nil || pid <= 0 {
			t.Errorf("pid %d, %v", pid, err)
		}
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		if _, err := s.Usage(); err == nil {
			t.Error("a stopped subject has a usage")
		}
		if _, err := s.Pid(); err == nil || s.Said() != nil {
			t.Error("a stopped subject has a process")
		}
		if _, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
			t.Error("somebody still listens")
		}
	}
}

func TestFloor(t *testing.T) {
	dir, probe := root(t)
	program := buildFloor(t)
	for _, closing := range []bool{false, true} {
		s := New(Floor(program, filepath.Join(dir, "100.html"), closing), options(t, probe))
		exercise(t, s, probe)
	}
}

func TestAbsentPeerNamesItsPackage(t *testing.T) {
	_, err := Peer{program: "no-such-server", Package: "no-such-package"}.Find(Setup{Root: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "no-such-package") {
		t.Errorf("got %v", err)
	}
}

func TestBadServers(t *testing.T) {
	dir, probe := root(t)
	other := filepath.Join(dir, "other.html")
	if err := os.WriteFile(other, []byte("not this"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		recipe Recipe
		want   []string
	}{
		{"never ready", script("mute", "echo thinking >&2; exec sleep 600", true), []string{"start mute", "deadline exceeded", "thinking"}},
		{"never listens", script("deaf", "echo dreaming >&2; exec sleep 600", false), []string{"start deaf", "deadline exceeded", "dreaming"}},
		{"dies", script("dead", "echo no memory >&2; exit 9", true), []string{"exit status 9", "no memory"}},
		{"dies without announcing", script("dead", "echo no memory >&2; exit 9", false), []string{"exit status 9", "no memory"}},
		{"announces nonsense", script("mad", "echo hello; exec sleep 600", true), []string{`"hello"`, "ready http://127.0.0.1:"}},
		{"wrong bytes", Floor(buildFloor(t), other, false), []string{"wrong bytes", "not this", "0123456789"}},
		{"not there", Recipe{Name: "none", Path: "/no/such/server", Args: func(int, string) []string { return nil }}, []string{"no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(c.recipe, options(t, probe))
			_, err := s.Start(within(t, time.Second))
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if err := s.Stop(within(t, time.Second)); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

func TestDiesMidRun(t *testing.T) {
	dir, probe := root(t)
	program := buildFloor(t)
	r := Floor(program, filepath.Join(dir, "100.html"), false)
	inner := r.Args
	r.Path = "/bin/sh"
	r.Args = func(port int, config string) []string {
		return append([]string{"-c", `"$0" "$@" & sleep 0.7; kill -9 $!; echo out of luck >&2; exit 4`, program}, inner(port, config)...)
	}
	s := New(r, options(t, probe))
	_, err := s.Start(within(t, 20*time.Second))
	// The shell's child announces with the shell's own port, so it is ready.
	if err != nil {
		t.Fatal(err)
	}
	for deadline := within(t, 20*time.Second); s.Died() == nil && deadline.Err() == nil; time.Sleep(10 * time.Millisecond) {
	}
	if err := s.Died(); err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("died: %v", err)
	}
	if _, err := s.Usage(); err == nil {
		t.Error("a dead server has a usage")
	}
	if err := s.Stop(within(t, time.Second)); err == nil {
		t.Error("stopping a server that died says nothing")
	}
}

func TestRemote(t *testing.T) {
	dir, probe := root(t)
	local := New(Floor(buildFloor(t), filepath.Join(dir, "100.html"), false), options(t, probe))
	base, err := local.Start(within(t, 20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRemote("theirs", base+"/", probe)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Start(within(t, 5*time.Second)); err != nil || got != base {
		t.Errorf("start: %q, %v", got, err)
	}
	if _, err := r.Usage(); !errors.Is(err, ErrNotHere) {
		t.Errorf("usage: %v", err)
	}
	if _, err := r.Pid(); !errors.Is(err, ErrNotHere) || r.Said() != nil {
		t.Errorf("pid: %v", err)
	}
	if twin := local.Twin("again"); twin.Name() != "again" || twin.Facts()[1] != local.Facts()[1] {
		t.Errorf("a twin is %s with %v", twin.Name(), twin.Facts())
	}
	if err := local.Stop(within(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(within(t, 5*time.Second)); err == nil || !strings.Contains(err.Error(), "to do:") {
		t.Errorf("a server that is down: %v", err)
	}
	for _, bad := range []string{"https://127.0.0.1:1", "127.0.0.1:80", "http://h/path", "http://", "http://h?x"} {
		if _, err := NewRemote("bad", bad, probe); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
