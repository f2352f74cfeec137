package cgi

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// drainErrors logs what is in the pipe of standard error now, and closes it.
func (r *run) drainErrors() {
	fd := r.p.Stderr
	if fd < 0 {
		return
	}
	buf := make([]byte, 512)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			break
		}
		r.errs.Take(buf[:n])
	}
	r.errs.Flush()
	r.p.CloseStderr()
}

// copyErrors logs until f is at its end or closed, or its deadline reached.
func (r *run) copyErrors(f *os.File) {
	buf := make([]byte, 4<<10)
	for {
		n, err := f.Read(buf)
		r.errs.Take(buf[:n])
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	r.errs.Flush()
}
