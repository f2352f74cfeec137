package spawn

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AwaitReadable waits in Go's poller, which f is in, until f is readable or
// limit is reached: false means the limit. It ties no thread.
func AwaitReadable(f *os.File, limit time.Time) (bool, error) {
	if err := f.SetReadDeadline(limit); err != nil {
		return false, err
	}
	c, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	err = c.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// childInfo is the part of siginfo_t that waitid(2) fills in for SIGCHLD, as it
// lies on 64-bit machines.
type childInfo struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	uid                uint32
	status             int32
	_                  [100]byte
}

// How a child ended (siginfo_t, CLD_*).
const childExited, childDumped = 1, 3

// Ended says whether a child has ended, and how, without reaping it: its
// number, and that of its group, stay its own (waitid(2), WNOWAIT).
func Ended(pid int) (status syscall.WaitStatus, ended bool) {
	var info childInfo
	_, _, errno := unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	switch {
	case errno != 0: // ECHILD: someone else took the status
		return 0, errno != unix.EINTR
	case info.pid == 0:
		return 0, false
	case info.code == childExited:
		return syscall.WaitStatus(info.status << 8), true
	case info.code == childDumped:
		return syscall.WaitStatus(info.status | 0x80), true
	}
	return syscall.WaitStatus(info.status), true
}
