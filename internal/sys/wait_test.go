package sys

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestWaiter: a wait without events lasts as long as asked, by the nanosecond,
// and one with events ends at once.
func TestWaiter(t *testing.T) {
	epfd, errno := EpollCreate()
	if errno != 0 {
		t.Fatal(errno)
	}
	defer Close(epfd)
	events := make([]unix.EpollEvent, 1)
	for name, w := range map[string]*Waiter{"fine": {}, "coarse": {coarse: true}} {
		for _, timeout := range []time.Duration{0, 300 * time.Microsecond, 2300 * time.Microsecond} {
			start := time.Now()
			n, errno := w.Wait(epfd, events, timeout)
			took := time.Since(start)
			if w.coarse {
				timeout = timeout.Truncate(time.Millisecond)
			}
			if n != 0 || errno != 0 || took < timeout {
				t.Errorf("%s: %d events, errno %v, %v waited, want %v", name, n, errno, took, timeout)
			}
		}
	}
	fd, errno := EventFD()
	if errno != 0 {
		t.Fatal(errno)
	}
	defer Close(fd)
	EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN)
	Wake(fd)
	if n, errno := new(Waiter).Wait(epfd, events, time.Hour); n != 1 || errno != 0 || events[0].Fd != int32(fd) {
		t.Errorf("%d events, errno %v", n, errno)
	}
}
