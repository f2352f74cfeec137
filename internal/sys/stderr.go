package sys

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Outlive returns a writer to the descriptor of w, if that is a file, that fails
// when it is a pipe that nobody reads any more. Go ends a program that writes to
// such a standard output or error by os.Stdout or os.Stderr (os/signal, "SIGPIPE"),
// and a server is to outlive the reader of its log. The descriptor stays w's. Any
// other writer is returned as it is.
func Outlive(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return outliving{f}
	}
	return w
}

type outliving struct{ file *os.File }

// Write writes all of b, also to a non-blocking pipe that has no room for it yet.
func (o outliving) Write(b []byte) (n int, err error) {
	conn, err := o.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Control(func(fd uintptr) { n, err = writeAll(int(fd), b) })
	if failed != nil {
		return n, failed
	}
	return n, err
}

// writeAll writes b to a descriptor of any kind (write(2)).
func writeAll(fd int, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := unix.Write(fd, b[n:])
		switch err {
		case nil:
			n += m
		case unix.EINTR:
		case unix.EAGAIN:
			// What poll(2) says against it, the next write says too.
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		default:
			return n, os.NewSyscallError("write", err)
		}
	}
	return n, nil
}
