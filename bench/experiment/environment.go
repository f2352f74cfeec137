package experiment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/internal/proc"
)

// Environment says where this program runs, for a document. fixtures is the
// digest of the fixtures' manifest.
func Environment(fixtures string) bench.Environment {
	return bench.Environment{
		Kernel:    kernel(),
		CPU:       cpuModel(),
		Cores:     runtime.NumCPU(),
		Clock:     line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		Sysctls:   sysctls(),
		Go:        runtime.Version(),
		Build:     build(),
		Fixtures:  fixtures,
		Load:      line("/proc/loadavg"),
		Container: container(),
		Facts:     surroundings(),
	}
}

// line returns the first line of a file, empty if there is none.
func line(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return strings.TrimSpace(string(first))
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	text := func(b []byte) string { s, _, _ := bytes.Cut(b, []byte{0}); return string(s) }
	return fmt.Sprintf("%s %s %s", text(u.Sysname[:]), text(u.Release[:]), text(u.Machine[:]))
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(l, ":")
		if name = strings.TrimSpace(name); name == "model name" || name == "Processor" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// sysctls are the settings that decide how connections on loopback, processes
// and memory behave.
func sysctls() map[string]string {
	all := map[string]string{}
	for _, name := range []string{
		"net.core.somaxconn", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_max_syn_backlog",
		"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "kernel.sched_autogroup_enabled",
		"net.core.netdev_max_backlog", "net.core.default_qdisc", "net.core.busy_poll", "net.core.rmem_max", "net.core.wmem_max",
		"net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_max_tw_buckets", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_fastopen",
		"net.ipv4.tcp_timestamps", "net.ipv4.tcp_autocorking", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_abort_on_overflow",
		"net.netfilter.nf_conntrack_max", "fs.file-max", "fs.nr_open", "kernel.pid_max", "kernel.threads-max",
		"kernel.randomize_va_space", "kernel.numa_balancing", "vm.overcommit_memory", "vm.swappiness",
	} {
		if v := line("/proc/sys/" + strings.ReplaceAll(name, ".", "/")); v != "" {
			all[name] = strings.Join(strings.Fields(v), " ")
		}
	}
	return all
}

// build names the commit that this program was built from, so far as it was
// told, and the program by its bytes.
func build() string {
	var words []string
	if info, ok := debug.ReadBuildInfo(); ok {
		words = append(words, info.Main.Path, info.Main.Version)
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				words = append(words, s.Value)
			case s.Key == "vcs.modified" && s.Value == "true":
				words = append(words, "modified")
			case s.Key == "CGO_ENABLED" || s.Key == "-race" || s.Key == "GOAMD64":
				words = append(words, s.Key+"="+s.Value)
			}
		}
	}
	if self, err := os.Executable(); err == nil {
		words = append(words, subject.Digest(self))
	}
	return strings.Join(words, " ")
}

// surroundings are further facts on which figures depend: limits of this
// process, which the servers inherit, and of the processors.
func surroundings() map[string]string {
	facts := map[string]string{}
	add := func(name, value string) {
		if value != "" {
			facts[name] = value
		}
	}
	for name, limit := range map[string]string{
		"limit.descriptors": "Max open files", "limit.processes": "Max processes", "limit.locked_memory": "Max locked memory", "limit.stack": "Max stack size",
	} {
		v, _ := proc.Limit(os.Getpid(), limit)
		add(name, v)
	}
	add("cpu.governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	add("cpu.max_khz", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"))
	add("cpu.boost", line("/sys/devices/system/cpu/cpufreq/boost"))
	add("cpu.no_turbo", line("/sys/devices/system/cpu/intel_pstate/no_turbo"))
	add("cpu.threads_of_core_0", line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"))
	add("cpu.allowed", fmt.Sprint(proc.CPUs()))
	add("cpu.quota", quota())
	add("memory.huge_pages", line("/sys/kernel/mm/transparent_hugepage/enabled"))
	add("memory.total", meminfo("MemTotal"))
	add("memory.available", meminfo("MemAvailable"))
	add("memory.swap", meminfo("SwapTotal"))
	add("network.loopback_mtu", line("/sys/class/net/lo/mtu"))
	vulnerabilities, _ := filepath.Glob("/sys/devices/system/cpu/vulnerabilities/*")
	for _, name := range vulnerabilities {
		if v := line(name); strings.HasPrefix(v, "Mitigation") {
			add("mitigation."+filepath.Base(name), strings.TrimPrefix(v, "Mitigation: "))
		}
	}
	for _, name := range []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG"} { // the servers inherit them
		add("environment."+name, os.Getenv(name))
	}
	return facts
}

// quota is the limit on CPU of this process's control group, empty for none.
func quota() string {
	if v := line("/sys/fs/cgroup/cpu.max"); v != "" {
		return v
	}
	v, period := line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), line("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
	if v == "" {
		return ""
	}
	return v + " " + period
}

// meminfo is a line of /proc/meminfo.
func meminfo(name string) string {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(l, name+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// container says what kind of container or virtual machine this is, so far as
// the system tells.
func container() string {
	var kinds []string
	for _, seen := range []struct{ path, kind string }{
		{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}, {"/var/run/secrets/kubernetes.io", "kubernetes"},
	} {
		if _, err := os.Stat(seen.path); err == nil {
			kinds = append(kinds, seen.kind)
		}
	}
	if b, err := os.ReadFile("/run/systemd/container"); err == nil {
		kinds = append(kinds, strings.TrimSpace(string(b)))
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil && bytes.Contains(b, []byte(" hypervisor")) {
		kinds = append(kinds, "virtual machine")
	}
	if len(kinds) == 0 {
		return "none seen"
	}
	return strings.Join(kinds, ", ")
}
