package experiment

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/bench"
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

// sysctls are the settings that decide how loopback connections behave.
func sysctls() map[string]string {
	all := map[string]string{}
	for _, name := range []string{
		"net.core.somaxconn", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_max_syn_backlog",
		"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "kernel.sched_autogroup_enabled",
	} {
		if v := line("/proc/sys/" + strings.ReplaceAll(name, ".", "/")); v != "" {
			all[name] = strings.Join(strings.Fields(v), " ")
		}
	}
	return all
}

// build names the commit that this program was built from.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	return strings.TrimSpace(info.Main.Path + " " + info.Main.Version + " " + revision + modified)
}

// container says what kind of container or virtual machine this is, so far as
// the system tells.
func container() string {
	for path, kind := range map[string]string{"/.dockerenv": "docker", "/run/.containerenv": "podman"} {
		if _, err := os.Stat(path); err == nil {
			return kind
		}
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil && bytes.Contains(b, []byte(" hypervisor")) {
		return "virtual machine"
	}
	return "none seen"
}
