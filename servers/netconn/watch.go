package netconn

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchEvery is how often a waiting exchange's client is looked at.
const watchEvery = 200 * time.Millisecond

// A Watch sees the client of one exchange leave, for libraries that do not. It
// costs a timer, and a system call every 200 ms.
type Watch struct {
	// Gone is closed when the client has ended its stream or reset it.
	Gone chan struct{}

	conn  *Conn
	mu    sync.Mutex
	timer *time.Timer // nil when stopped
}

// Watch begins to watch. The caller must stop the watch.
func (c *Conn) Watch() *Watch {
	w := &Watch{Gone: make(chan struct{}), conn: c}
	w.mu.Lock()
	w.timer = time.AfterFunc(watchEvery, w.look)
	w.mu.Unlock()
	return w
}

func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	if w.conn.left() {
		close(w.Gone)
		return
	}
	w.timer.Reset(watchEvery)
}

// Stop ends the watch. A nil watch can be stopped.
func (w *Watch) Stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// left says whether the client has ended its stream. Unread bytes before the
// end do not hide it.
func (c *Conn) left() bool {
	fds := []unix.PollFd{{Events: unix.POLLRDHUP}}
	err := c.raw.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		_, _ = unix.Poll(fds, 0)
	})
	return err != nil || fds[0].Revents != 0
}
