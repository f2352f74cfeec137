package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A call is one system call of a trace, when it was over.
type call struct {
	thread string
	end    time.Time
	name   string
	text   string // as strace shows it, without its duration
}

var (
	begun    = regexp.MustCompile(`^(\d+) +(\d+\.\d+) (.*) <unfinished \.\.\.>$`)
	resumed  = regexp.MustCompile(`^(\d+) +(\d+\.\d+) <\.\.\. \w+ resumed>(.*)$`)
	whole    = regexp.MustCompile(`^(\d+) +(\d+\.\d+) (\w+\(.*)$`)
	duration = regexp.MustCompile(` <(\d+\.\d+)>$`)
)

// parse reads what strace -f -ttt -T writes. A call during which another
// thread's is shown is on two lines.
func parse(trace string) ([]call, error) {
	var calls []call
	open := map[string]string{}
	for line := range strings.Lines(trace) {
		line = strings.TrimSuffix(line, "\n")
		if m := begun.FindStringSubmatch(line); m != nil {
			open[m[1]] = m[3]
			continue
		}
		m, text, halves := resumed.FindStringSubmatch(line), "", true
		if m != nil {
			text = open[m[1]] + m[3]
		} else if m = whole.FindStringSubmatch(line); m != nil {
			text, halves = m[3], false
		} else {
			continue // a signal, an exit
		}
		at, err := seconds(m[2])
		if err != nil {
			return nil, err
		}
		end := time.Unix(0, at.Nanoseconds())
		if d := duration.FindStringSubmatch(text); d != nil {
			took, err := seconds(d[1])
			if err != nil {
				return nil, err
			}
			text = strings.TrimSuffix(text, d[0])
			if !halves {
				end = end.Add(took)
			}
		}
		name, _, _ := strings.Cut(text, "(")
		calls = append(calls, call{thread: m[1], end: end, name: name, text: strings.TrimSpace(text)})
	}
	return calls, nil
}

// seconds reads a decimal number of seconds.
func seconds(s string) (time.Duration, error) {
	whole, part, _ := strings.Cut(s, ".")
	part = (part + "000000000")[:9]
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read a time of the trace: %w", err)
	}
	ns, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read a time of the trace: %w", err)
	}
	return time.Duration(sec)*time.Second + time.Duration(ns), nil
}

// housekeeping are calls of the Go runtime for itself: its monitor's naps,
// threads that wake each other, preemption, memory, the number of cores.
var housekeeping = regexp.MustCompile(`^(futex|nanosleep|clock_nanosleep|tgkill|getpid|rt_sigreturn|rt_sigprocmask|sched_yield|madvise|mmap|munmap|restart_syscall|sched_getaffinity|gettid|sigaltstack|pread64\(cpu\.)` +
	// It looks in passing whether its poller has anything.
	`|^epoll_pwait\(\d+<[^>]*>, \[\], 128, `)

// within returns the calls that were over after from and until to, without
// the runtime's housekeeping, of which it counts the futex calls: they are what
// handing work from thread to thread takes.
func within(calls []call, from, to time.Time) (in []call, futexes int) {
	for _, c := range calls {
		switch {
		case !c.end.After(from) || c.end.After(to):
		case c.name == "futex":
			futexes++
		case !housekeeping.MatchString(c.text):
			in = append(in, c)
		}
	}
	return in, futexes
}

// plain are the shapes by which descriptors and addresses are told in the
// pages, where their numbers mean nothing.
var plain = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\d+<TCP(?:v6)?:\[[^\]]*->[^\]]*\]>`), "connection"},
	{regexp.MustCompile(`\d+<TCP(?:v6)?:\[[^\]]*\]>`), "listener"},
	{regexp.MustCompile(`\d+<(?:UNIX|UNIX-STREAM):\[[^\]]*\]>`), "unix socket"},
	{regexp.MustCompile(`\d+<anon_inode:\[?(\w+)\]?>`), "$1"},
	{regexp.MustCompile(`io_uring_enter\([^,]*,`), "io_uring_enter(ring,"},
	{regexp.MustCompile(`\d+<pipe:\[\d+\]>`), "pipe"},
	{regexp.MustCompile(`\d+<[^>]*/([^/>]+)>`), "$1"},
	{regexp.MustCompile(`sin_port=htons\(\d+\)`), "sin_port=..."},
	{regexp.MustCompile(`0x[0-9a-f]{6,}`), "ADDR"},
	{regexp.MustCompile(`data=\{u32=\d+, u64=\w+\}`), "data=..."},
}

// show renders calls, one a line, the threads as letters if there are several.
func show(calls []call) string {
	names := map[string]string{}
	for _, c := range calls {
		if names[c.thread] == "" {
			names[c.thread] = string(rune('A' + len(names)%26))
		}
	}
	var b strings.Builder
	for _, c := range calls {
		text := c.text
		for _, p := range plain {
			text = p.re.ReplaceAllString(text, p.by)
		}
		if len(names) > 1 {
			text = names[c.thread] + "  " + text
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
