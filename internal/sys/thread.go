package sys

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PinThread binds the calling thread, which its goroutine must have locked, to
// one core (sched_setaffinity(2)).
func PinThread(core int) error { return BindThread(core) }

// BindThread lets the calling thread, which its goroutine must have locked, run
// on these cores only.
func BindThread(cores ...int) error {
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind a thread to cores %v: %w", cores, err)
	}
	return nil
}

// Cores returns the cores that the calling thread may run on, in ascending
// order (sched_getaffinity(2)).
func Cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return []int{0}
	}
	var cores []int
	for core := 0; len(cores) < set.Count(); core++ {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores
}

// ThreadCPU returns the time that the calling thread has used, of its own and
// in the kernel (getrusage(2), RUSAGE_THREAD).
func ThreadCPU() (user, system time.Duration) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// ThreadWaited returns how long the calling thread has been ready to run and
// had no core, because others had it or a limit on CPU stopped it
// (/proc/thread-self/schedstat); 0 where the kernel does not tell.
func ThreadWaited() time.Duration {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}

// NameThread names the calling thread, which its goroutine must have locked, for
// ps and top, and returns what it was called before (prctl(2), PR_SET_NAME). The
// kernel keeps 15 bytes.
func NameThread(name string) (before string) {
	var old, b [16]byte
	unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_NAME, uintptr(unsafe.Pointer(&old[0])), 0)
	copy(b[:15], name)
	unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0)
	return unix.ByteSliceToString(old[:])
}
