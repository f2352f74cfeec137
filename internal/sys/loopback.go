package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// UpLoopback brings up the loopback device of this thread's network namespace,
// which in a new one is down (netdevice(7)).
func UpLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up the loopback: %w", os.NewSyscallError("socket", err))
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = os.NewSyscallError("ioctl", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo))
	}
	if err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	return nil
}
