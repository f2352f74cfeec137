package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A Usage is what a process and all its descendants have used since they
// started, those that ended and were waited for included. Differences of two
// are what was used between.
type Usage struct {
	// CPU is exact for living processes (their CPU clock counts
	// nanoseconds); for ended ones, and for User and System, the kernel
	// reports ticks of 10 ms.
	CPU          time.Duration
	User, System time.Duration

	Voluntary, Involuntary uint64 // context switches of threads that live
	MinorFaults            uint64

	RSS       int64 // resident memory of living processes in bytes; not a difference
	Threads   int   // of living processes; not a difference
	Processes int   // that live; not a difference
}

// Sub returns what was used since v, with the memory, threads and processes
// of u.
func (u Usage) Sub(v Usage) Usage {
	u.CPU -= v.CPU
	u.User -= v.User
	u.System -= v.System
	u.Voluntary -= min(u.Voluntary, v.Voluntary) // threads end and take theirs along
	u.Involuntary -= min(u.Involuntary, v.Involuntary)
	u.MinorFaults -= min(u.MinorFaults, v.MinorFaults)
	return u
}

// Usage returns what the process and its descendants have used. It fails when
// the process has ended.
func (p *Process) Usage() (Usage, error) {
	if err := p.Died(); err != nil {
		return Usage{}, err
	}
	return Measure(p.Pid())
}

// Measure returns what the process pid and its descendants have used. A
// descendant that ends meanwhile is counted by its parent or not at all, never
// twice: parents are read before their children.
func Measure(pid int) (Usage, error) {
	u, err := measureOne(pid)
	if err != nil {
		return Usage{}, err
	}
	for _, child := range Descendants(pid) {
		if v, err := measureOne(child); err == nil {
			u.Add(v)
		}
	}
	return u, nil
}

// Add adds what v has used, and its memory, threads and processes: u becomes
// what both have used.
func (u *Usage) Add(v Usage) {
	u.CPU += v.CPU
	u.User += v.User
	u.System += v.System
	u.Voluntary += v.Voluntary
	u.Involuntary += v.Involuntary
	u.MinorFaults += v.MinorFaults
	u.RSS += v.RSS
	u.Threads += v.Threads
	u.Processes += v.Processes
}

// cpuClock returns the CPU time of all threads of pid, also the ended ones.
func cpuClock(pid int) (time.Duration, error) {
	// The clock's number is ~pid << 3 | CPUCLOCK_SCHED (clock_getcpuclockid(3),
	// include/linux/posix-timers_types.h).
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on every Linux
// that Go runs on.
const tick = 10 * time.Millisecond

// The fields of /proc/PID/stat that are used, counted from the one after the
// command's name, which is the third (proc_pid_stat(5)).
const (
	statMinorFaults         = 10 - 3
	statChildrenMinorFaults = 11 - 3
	statUser                = 14 - 3
	statSystem              = 15 - 3
	statChildrenUser        = 16 - 3
	statChildrenSystem      = 17 - 3
	statThreads             = 20 - 3
	statRSS                 = 24 - 3
)

// measureOne returns what pid and its ended children have used.
func measureOne(pid int) (Usage, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of process %d: %w", pid, err)
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) <= statRSS {
		return Usage{}, fmt.Errorf("read the usage of process %d: its stat has %d fields", pid, len(fields))
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
		return n
	}
	ticks := func(i int) time.Duration { return time.Duration(number(i)) * tick }
	own, err := cpuClock(pid)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{
		CPU:         own + ticks(statChildrenUser) + ticks(statChildrenSystem),
		User:        ticks(statUser) + ticks(statChildrenUser),
		System:      ticks(statSystem) + ticks(statChildrenSystem),
		MinorFaults: uint64(number(statMinorFaults) + number(statChildrenMinorFaults)),
		RSS:         number(statRSS) * int64(os.Getpagesize()),
		Threads:     int(number(statThreads)),
		Processes:   1,
	}
	u.Voluntary, u.Involuntary = switches(pid)
	return u, nil
}

// switches sums the context switches of the living threads of pid.
func switches(pid int) (voluntary, involuntary uint64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for line := range bytes.Lines(raw) {
			if rest, ok := bytes.CutPrefix(line, []byte("voluntary_ctxt_switches:")); ok {
				voluntary += parse(rest)
			} else if rest, ok := bytes.CutPrefix(line, []byte("nonvoluntary_ctxt_switches:")); ok {
				involuntary += parse(rest)
			}
		}
	}
	return voluntary, involuntary
}

func parse(b []byte) uint64 {
	n, _ := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n
}

// Descendants returns the living children of pid, their children and so on,
// parents first. Each thread of a process has children of its own
// (proc_tid_children(5)).
func Descendants(pid int) []int {
	var all []int
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", queue[0]))
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				continue // the thread has ended
			}
			for _, word := range bytes.Fields(raw) {
				if child, err := strconv.Atoi(string(word)); err == nil {
					all = append(all, child)
					queue = append(queue, child)
				}
			}
		}
	}
	return all
}
