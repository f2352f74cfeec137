package process

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// A child is a worker as the master sees it, from its start until it is
// reaped.
type child struct {
	position int // which of the workers it is
	pid      int
	control  *os.File // a socket in the runtime's poller
	slot     *weighstone.Slot
	started  time.Time

	ready     bool // it has said that it serves
	reopening bool // it was told to reopen the access log, and has not said that it did
	ending    bool // it was told to end

	mu     sync.Mutex
	reaped bool
	status syscall.WaitStatus // how it ended; valid once it is gone
}

// gone is the last event of a child; the others are its messages.
const gone = 0

// An event is what a child has said, or that it is gone.
type event struct {
	child *child
	what  byte
}

// watch hands on what the child says, and reaps it when it ends.
func (c *child) watch(events chan<- event) {
	var b [16]byte
	for {
		n, err := c.control.Read(b[:])
		for _, what := range b[:n] {
			events <- event{c, what}
		}
		if err != nil {
			break
		}
	}
	// Its end of the socket is closed on exit, or by mistake; either way
	// there is no more talking to it.
	c.kill()
	c.reap()
	events <- event{c, gone}
}

// reap waits for the end. Until it is reaped the process id is the child's.
func (c *child) reap() {
	for unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		_, err := syscall.Wait4(c.pid, &c.status, 0, nil)
		if err != syscall.EINTR {
			break
		}
	}
	c.reaped = true
}

// tell sends a message. That it can't be sent means that the child is about to
// be gone.
func (c *child) tell(msg byte) { _, _ = c.control.Write([]byte{msg}) }

// kill ends the child without grace.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(c.pid, unix.SIGKILL)
	}
}

// idle says whether the child has no connection.
func (c *child) idle() bool {
	var n int64
	for i := range c.slot.Conns {
		n += c.slot.Conns[i].Load()
	}
	return n <= 0
}

// fate is how the child ended.
func (c *child) fate() string {
	if c.status.Signaled() {
		return "signal " + unix.SignalName(c.status.Signal())
	}
	return fmt.Sprintf("exit status %d", c.status.ExitStatus())
}
