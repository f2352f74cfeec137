package loop

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a connection, closed at the test's end.
func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	return fds[0], fds[1]
}

func eachDispatcher(t *testing.T, test func(t *testing.T, d dispatcher)) {
	for name, open := range map[string]func() (dispatcher, error){"epoll": newEpoll, "poll": newPoll, "select": newSelect} {
		t.Run(name, func(t *testing.T) {
			d, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			test(t, d)
		})
	}
}

func ready(t *testing.T, d dispatcher, want ...int) {
	t.Helper()
	got, err := d.wait(0, false)
	if err != nil {
		t.Fatal(err)
	}
	got = slices.Clone(got)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ready %v, want %v", got, want)
	}
}

func set(t *testing.T, d dispatcher, fd int, events uint32) {
	t.Helper()
	if err := d.set(fd, events); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, fd int) {
	t.Helper()
	if _, err := unix.Write(fd, []byte("x")); err != nil {
		t.Fatal(err)
	}
}

func TestDispatcherReportsWhatIsAsked(t *testing.T) {
	eachDispatcher(t, func(t *testing.T, d dispatcher) {
		a, far := pair(t)
		b, _ := pair(t)
		set(t, d, a, evIn)
		set(t, d, b, evIn)
		ready(t, d)
		write(t, far)
		ready(t, d, a)
		ready(t, d, a) // level-triggered: not read, so reported again
		set(t, d, b, evOut)
		ready(t, d, a, b)
		set(t, d, a, evOut)
		set(t, d, b, evIn)
		ready(t, d, a)
	})
}

func TestDispatcherForgets(t *testing.T) {
	eachDispatcher(t, func(t *testing.T, d dispatcher) {
		var fds []int
		for range 5 {
			a, far := pair(t)
			write(t, far)
			set(t, d, a, evIn)
			fds = append(fds, a)
		}
		ready(t, d, fds...)
		for _, i := range []int{1, 3, 0} { // from the middle, the end and the front
			if err := d.del(fds[i], false); err != nil {
				t.Fatal(err)
			}
		}
		ready(t, d, fds[2], fds[4])
		if err := d.del(fds[1], false); err != nil {
			t.Errorf("a second del: %v", err)
		}
		set(t, d, fds[1], evIn)
		ready(t, d, fds[1], fds[2], fds[4])
	})
}

func TestDispatcherTakesAReusedDescriptor(t *testing.T) {
	eachDispatcher(t, func(t *testing.T, d dispatcher) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		set(t, d, fds[0], evIn)
		if err := d.del(fds[0], true); err != nil {
			t.Fatal(err)
		}
		unix.Close(fds[0])
		unix.Close(fds[1])
		again, far := pair(t) // the kernel gives the lowest free number: the same
		if again != fds[0] {
			t.Fatalf("descriptor %d, want %d again", again, fds[0])
		}
		set(t, d, again, evIn)
		write(t, far)
		ready(t, d, again)
	})
}

func TestDispatcherSeesTheClientLeave(t *testing.T) {
	eachDispatcher(t, func(t *testing.T, d dispatcher) {
		a, far := pair(t)
		set(t, d, a, evGone)
		write(t, far)
		ready(t, d)
		if err := unix.Shutdown(far, unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		ready(t, d, a)
	})
}

func TestDispatcherWaits(t *testing.T) {
	eachDispatcher(t, func(t *testing.T, d dispatcher) {
		for _, share := range []bool{false, true} {
			a, far := pair(t)
			set(t, d, a, evIn)
			got, err := d.wait(time.Millisecond, share)
			if err != nil || len(got) != 0 {
				t.Errorf("wait: %v, %v, want nothing", got, err)
			}
			write(t, far)
			if got, err = d.wait(-1, share); err != nil || len(got) != 1 {
				t.Errorf("wait: %v, %v, want one", got, err)
			}
			if err := d.del(a, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}
