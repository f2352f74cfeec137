package sys

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// PinThread binds the calling thread, which its goroutine must have locked, to
// one core (sched_setaffinity(2)).
func PinThread(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin a thread to core %d: %w", core, err)
	}
	return nil
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
