package scoreboard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// An identity is a process id in the upper half, and in the lower when the
// process began, in clock ticks since boot. The time tells it from a later
// process that was given the same id.
type identity uint64

// errGone means that there is no such process, or only its zombie.
var errGone = errors.New("no such process")

// identify reads the identity of a living process from /proc/PID/stat
// (proc_pid_stat(5)).
func identify(pid int) (identity, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errGone
	}
	if err != nil {
		return 0, fmt.Errorf("identify process %d: %w", pid, err)
	}
	// The second field is the program's name in parentheses and may hold
	// anything; the state is the third and the start time the 22nd.
	rest := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, start = 0, 19
	if len(rest) <= start {
		return 0, fmt.Errorf("identify process %d: /proc/%d/stat has %d fields", pid, pid, len(rest)+2)
	}
	if s := rest[state][0]; s == 'Z' || s == 'X' {
		return 0, errGone
	}
	ticks, err := strconv.ParseUint(string(rest[start]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("identify process %d: start time: %w", pid, err)
	}
	return identity(uint64(pid)<<32 | ticks&(1<<32-1)), nil
}

// pid is the process id.
func (id identity) pid() int { return int(id >> 32) }

// alive says whether the process still runs. One that can't be looked at
// counts as alive: clearing a living worker's gauges would be worse.
func (id identity) alive() bool {
	now, err := identify(id.pid())
	if err != nil {
		return !errors.Is(err, errGone)
	}
	return now == id
}
