package loop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

var allowed = regexp.MustCompile(`(?m)^Cpus_allowed_list:\t(.*)$`)

// affinities lists the cores of each thread of this process that may not run
// on all, as the kernel writes them (proc_pid_status(5)).
func affinities(t *testing.T, all string) (bound []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		if m := allowed.FindSubmatch(b); m != nil && string(m[1]) != all {
			bound = append(bound, string(m[1]))
		}
	}
	slices.Sort(bound)
	return bound
}

// TestPinnedThreads: each loop has a thread on a core of its own; no other
// thread and no program that a handler starts is bound with it, and nothing is
// bound when the server has ended.
func TestPinnedThreads(t *testing.T) {
	cores := sys.Cores()
	if len(cores) < 2 {
		if os.Getenv("CI") == "true" {
			t.Fatal("two cores are needed")
		}
		t.Skip("two cores are needed: on one there is nothing to tell apart")
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	all := string(allowed.FindSubmatch(b)[1])
	child := func(x *weighstone.Exchange) {
		out, err := exec.Command("cat", "/proc/self/status").Output()
		if err != nil {
			x.Fail(500)
			return
		}
		x.Scratch = append(x.Scratch, allowed.FindSubmatch(out)[1]...)
		x.SendScratch("text/plain")
	}
	s := servertest.Start(t, servertest.Engine{Name: "percore", New: loop.NewPerCore}, site(t, child), weighstone.Options{})
	for range 20 {
		c := servertest.Dial(t, s.Addr)
		if got := string(c.Get("/wait", 200).Body); got != all {
			t.Fatalf("a program runs on cores %s, want %s", got, all)
		}
		c.Close()
	}
	var want []string
	for _, core := range cores {
		want = append(want, strconv.Itoa(core))
	}
	slices.Sort(want)
	if got := affinities(t, all); !slices.Equal(got, want) {
		t.Errorf("threads are bound to cores %v, want %v", got, want)
	}
	s.Stop()
	for end := time.Now().Add(5 * time.Second); len(affinities(t, all)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after the server's end, threads are bound to %v", affinities(t, all))
		}
	}
}
