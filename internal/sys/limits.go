package sys

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// RaiseNoFile raises the soft limit of open descriptors to the hard one and
// returns it. (Go does so at start too, but a child inherits the limit from
// before: setting it makes it stay.)
func RaiseNoFile() (limit uint64, err error) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return 0, fmt.Errorf("read the descriptor limit: %w", err)
	}
	lim.Cur = lim.Max
	if err := syscall.Setrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return 0, fmt.Errorf("raise the descriptor limit: %w", err)
	}
	return lim.Cur, nil
}

// NoFile returns the soft limit of open descriptors.
func NoFile() int {
	var lim syscall.Rlimit
	if syscall.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 1024
	}
	return int(min(lim.Cur, 1<<20))
}
