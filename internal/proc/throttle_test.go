package proc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestCPUStats(t *testing.T) {
	for groups, want := range map[string][]string{
		"0::/\n":                                {"/sys/fs/cgroup/cpu.stat"},
		"0::/user.slice/a.scope\n":              {"/sys/fs/cgroup/user.slice/a.scope/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		"4:memory:/x\n2:cpu,cpuacct:/y\n0::/\n": {"/sys/fs/cgroup/cpu/y/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat", "/sys/fs/cgroup/cpu.stat"},
		"3:cpuset:/\nnonsense\n":                nil,
	} {
		if got := cpuStats(groups); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", groups, got, want)
		}
	}
}

func TestThrottledIn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cpu.stat")
	for text, want := range map[string]time.Duration{
		"usage_usec 5\nnr_throttled 3\nthrottled_usec 1500\n":      1500 * time.Microsecond,
		"nr_periods 7\nnr_throttled 2\nthrottled_time 250000000\n": 250 * time.Millisecond,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, ok := throttledIn(name); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	if _, ok := throttledIn(name + "-not-there"); ok {
		t.Error("a file that is not there tells something")
	}
	if a, _, _ := Throttled(); a < 0 {
		t.Errorf("stopped for %v", a)
	}
}

func TestSteal(t *testing.T) {
	steal, err := Steal(CPUs()[:1])
	if err != nil || steal < 0 {
		t.Errorf("%v, %v", steal, err)
	}
	all, err := CoreTime(CPUs()[:1])
	if err != nil || steal > all {
		t.Errorf("%v of %v, %v", steal, all, err)
	}
}

func TestLimit(t *testing.T) {
	if v, err := Limit(os.Getpid(), "Max open files"); err != nil || v == "" {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := Limit(os.Getpid(), "Max dreams"); err == nil {
		t.Error("there is a limit that is none")
	}
}
