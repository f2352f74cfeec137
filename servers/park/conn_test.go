package park

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is a connection and its client.
func pair(t *testing.T) (c *Conn, client *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, client = Own(fds[0], time.Minute), os.NewFile(uintptr(fds[1]), "client")
	t.Cleanup(func() { c.Close(); client.Close() })
	return c, client
}

// TestLimitsThatGrow: a deadline of the poller that was set for an earlier read
// does not end one that may take longer, and one that was set for later does not
// prolong it.
func TestLimitsThatGrow(t *testing.T) {
	c, client := pair(t)
	buf := make([]byte, 10)
	if _, err := c.ReadWithin(buf, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a read of nothing: %v", err)
	}
	for _, limit := range []time.Duration{20 * time.Millisecond, time.Minute} {
		client.WriteString("a")
		if n, err := c.ReadWithin(buf, limit); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	time.AfterFunc(100*time.Millisecond, func() { client.WriteString("b") })
	if n, err := c.ReadWithin(buf, time.Minute); n != 1 || err != nil {
		t.Fatalf("behind a deadline of an earlier read: %d, %v", n, err)
	}
	if _, err := c.ReadWithin(buf, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a read of nothing: %v", err)
	}
}

// TestInterrupt: it ends the read that waits and those after it, until it is
// taken back.
func TestInterrupt(t *testing.T) {
	c, client := pair(t)
	buf := make([]byte, 10)
	time.AfterFunc(50*time.Millisecond, c.Interrupt)
	for range 2 {
		if n, err := c.Read(buf); err == nil {
			t.Fatalf("%d bytes of an interrupted read", n)
		}
	}
	c.Resume()
	client.WriteString("a")
	if n, err := c.ReadWithin(buf, time.Minute); n != 1 || err != nil {
		t.Fatalf("behind an interrupted read: %d, %v", n, err)
	}
}
