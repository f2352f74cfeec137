package flow

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// A Conn is a connected socket on which its own flow of control waits: a thread
// in a system call, or a goroutine in the runtime's poller. In what way it
// waits is all that differs.
type Conn interface {
	wire.Conn // for the exchanges that may wait

	// ReadWithin reads what there is, and waits for it at most limit; then it
	// fails with an error that is os.ErrDeadlineExceeded. The end of the
	// stream is io.EOF.
	ReadWithin(p []byte, limit time.Duration) (n int, err error)

	// SendFile sends up to n bytes of f from *offset on, and advances that. It
	// waits until the client takes some, but no longer than the write limit.
	SendFile(f *os.File, offset *int64, n int) (sent int, err error)

	// Resume takes back an Interrupt.
	Resume()

	// FD is the descriptor, which is closed by Close alone.
	FD() int

	// Close closes the connection.
	Close()
}

// sendNow sends what the socket takes at once of out and then page. more says
// that a file follows.
func sendNow(fd int, out, page []byte, more bool) (n int, err error) {
	var errno unix.Errno
	switch {
	case len(page) > 0:
		n, errno = sys.SendTwo(fd, out, page)
	case more:
		n, errno = sys.SendMore(fd, out)
	default:
		n, errno = sys.Send(fd, out)
	}
	if errno != 0 && errno != unix.EAGAIN {
		return n, errno
	}
	return n, nil
}
