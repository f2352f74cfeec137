package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Throttled returns for how long limits on CPU have stopped the control group
// of this process (cgroups(7): cpu.stat of version 2 or 1), and how often the
// processors slowed down for heat. Where the kernel tells neither, both are 0
// and known is false. Differences of two are what happened between.
func Throttled() (stopped time.Duration, hot uint64, known bool) {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		for _, name := range cpuStats(string(raw)) {
			if d, ok := throttledIn(name); ok {
				stopped, known = max(stopped, d), true
			}
		}
	}
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			hot, known = hot+parse(b), true
		}
	}
	return stopped, hot, known
}

// cpuStats are the files that may tell of the groups in /proc/PID/cgroup: of
// the group itself, and of the root that a container sees.
func cpuStats(groups string) []string {
	var names []string
	for line := range strings.Lines(groups) {
		// hierarchy:controllers:path; the one of version 2 is "0::path".
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root = "/sys/fs/cgroup"
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root = "/sys/fs/cgroup/cpu"
		default:
			continue
		}
		names = append(names, filepath.Join(root, parts[2], "cpu.stat"))
		if parts[2] != "/" {
			names = append(names, filepath.Join(root, "cpu.stat"))
		}
	}
	return names
}

// throttledIn reads the time from a cpu.stat: version 2 has microseconds,
// version 1 nanoseconds.
func throttledIn(name string) (time.Duration, bool) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("throttled_usec ")); ok {
			return time.Duration(parse(rest)) * time.Microsecond, true
		}
		if rest, ok := bytes.CutPrefix(line, []byte("throttled_time ")); ok {
			return time.Duration(parse(rest)), true
		}
	}
	return 0, false
}

// Limit returns the soft limit of a process's resource as the kernel words it
// in /proc/PID/limits, "Max open files" for instance.
func Limit(pid int, name string) (string, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return "", fmt.Errorf("read the limits of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				return words[0], nil
			}
		}
	}
	return "", fmt.Errorf("read the limits of process %d: there is no %q", pid, name)
}
