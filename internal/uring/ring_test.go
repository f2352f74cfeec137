package uring

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// start makes a ring of this test's thread, closed at its end. Where io_uring is
// refused the test is skipped with the reason: that is the kernel's choice.
func start(t *testing.T, submissions, completions uint32) *Ring {
	t.Helper()
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r, err := New(submissions, completions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// receiving makes a ring with buffers of 16 bytes.
func receiving(t *testing.T, count int) (*Ring, *Buffers) {
	t.Helper()
	r := start(t, 8, 16)
	b, err := r.NewBuffers(3, count, 16)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return r, b
}

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

func write(t *testing.T, fd int, s string) {
	t.Helper()
	if n, err := unix.Write(fd, []byte(s)); n != len(s) {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(s), err)
	}
}

// patience bounds a wait that should find something.
const patience = 10 * time.Second

// next waits for n completions and returns copies.
func next(t *testing.T, r *Ring, n int) (all []Completion) {
	t.Helper()
	for end := time.Now().Add(patience); len(all) < n; {
		got, err := r.Wait(time.Until(end), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got == 0 && time.Now().After(end) {
			t.Fatalf("%d completions, want %d: %+v", len(all), n, all)
		}
		for range got {
			all = append(all, *r.Next())
		}
		r.Taken()
	}
	if len(all) != n {
		t.Fatalf("%d completions, want %d: %+v", len(all), n, all)
	}
	return all
}

func none(t *testing.T, r *Ring) {
	t.Helper()
	if n, err := r.Wait(0, 0); n != 0 || err != nil {
		t.Fatalf("%d completions, %v, want none: %+v", n, err, *r.Next())
	}
}

// expect checks a completion.
func expect(t *testing.T, c Completion, data uint64, result int32, more bool) {
	t.Helper()
	if c.Data != data || c.Result != result || c.More() != more {
		t.Errorf("completion of %d with %d, more %v, want %d with %d, %v", c.Data, c.Result, c.More(), data, result, more)
	}
}

func TestReceiveGoesOn(t *testing.T) {
	r, buffers := receiving(t, 4)
	a, far := pair(t)
	r.Receive(a, 3, 7)
	none(t, r)
	for _, text := range []string{"one", "two", "three", "four", "five", "six"} { // more than there are buffers
		write(t, far, text)
		c := next(t, r, 1)[0]
		expect(t, c, 7, int32(len(text)), true)
		id, ok := c.Buffer()
		if !ok {
			t.Fatal("no buffer")
		}
		if got := string(buffers.Bytes(id, len(text))); got != text {
			t.Errorf("received %q, want %q", got, text)
		}
		buffers.Recycle(id)
	}
	if err := unix.Shutdown(far, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	expect(t, next(t, r, 1)[0], 7, 0, false)
}

// TestBuffersRunOut: the receive ends, nothing is lost, and it can be asked for
// again when there are buffers.
func TestBuffersRunOut(t *testing.T) {
	r, buffers := receiving(t, 2)
	a, far := pair(t)
	r.Receive(a, 3, 7)
	write(t, far, "0123456789abcdef0123456789ABCDEF*rest*") // 16 bytes for each buffer, and more
	all := next(t, r, 3)
	got := ""
	for i, c := range all[:2] {
		expect(t, c, 7, 16, true)
		id, ok := c.Buffer()
		if !ok {
			t.Fatalf("completion %d has no buffer", i)
		}
		got += string(buffers.Bytes(id, 16))
	}
	expect(t, all[2], 7, -int32(unix.ENOBUFS), false)
	for _, c := range all[:2] {
		id, _ := c.Buffer()
		buffers.Recycle(id)
	}
	r.Receive(a, 3, 8)
	c := next(t, r, 1)[0]
	expect(t, c, 8, 6, true)
	id, _ := c.Buffer()
	if got += string(buffers.Bytes(id, 6)); got != "0123456789abcdef0123456789ABCDEF*rest*" {
		t.Errorf("received %q", got)
	}
}

func TestCancel(t *testing.T) {
	r, _ := receiving(t, 2)
	a, far := pair(t)
	r.Receive(a, 3, 7)
	none(t, r)
	r.Cancel(7, 9)
	for _, c := range next(t, r, 2) {
		switch c.Data {
		case 7:
			expect(t, c, 7, -int32(unix.ECANCELED), false)
		default:
			expect(t, c, 9, 0, false)
		}
	}
	r.Cancel(7, 9)
	expect(t, next(t, r, 1)[0], 9, -int32(unix.ENOENT), false)
	write(t, far, "x") // nobody takes it
	none(t, r)
}

// TestSendWaitsForRoom: a send that a full socket does not take completes when
// there is room, and not before.
func TestSendWaitsForRoom(t *testing.T) {
	r := start(t, 8, 16)
	a, far := pair(t)
	piece := make([]byte, 64<<10)
	filled := 0
	for {
		n, err := unix.Write(a, piece)
		if err != nil {
			break
		}
		filled += n
	}
	r.Send(a, piece[:100], 5)
	none(t, r)
	for filled > 0 {
		n, err := unix.Read(far, piece)
		if err != nil {
			t.Fatal(err)
		}
		filled -= n
	}
	expect(t, next(t, r, 1)[0], 5, 100, false)
}

func TestSendMessage(t *testing.T) {
	r := start(t, 8, 16)
	a, far := pair(t)
	m := new(Message)
	m.Set([]byte("head,"), []byte("body"))
	r.SendMessage(a, m, 5)
	expect(t, next(t, r, 1)[0], 5, 9, false)
	b := make([]byte, 20)
	if n, err := unix.Read(far, b); err != nil || string(b[:n]) != "head,body" {
		t.Errorf("sent %q, %v", b[:n], err)
	}
	unix.Close(far)
	r.Send(a, []byte("x"), 6)
	expect(t, next(t, r, 1)[0], 6, -int32(unix.EPIPE), false)
}

func TestAcceptGoesOn(t *testing.T) {
	r := start(t, 8, 16)
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(listener)
	at := &unix.SockaddrUnix{Name: t.TempDir() + "/socket"}
	if err := unix.Bind(listener, at); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(listener, 16); err != nil {
		t.Fatal(err)
	}
	r.Accept(listener, 1)
	none(t, r)
	for range 3 {
		client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(client)
		if err := unix.Connect(client, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range next(t, r, 3) {
		if c.Data != 1 || c.Result < 0 || !c.More() {
			t.Fatalf("accept: %+v", c)
		}
		fd := int(c.Result)
		defer unix.Close(fd)
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_NONBLOCK == 0 {
			t.Errorf("flags %#x, %v, want non-blocking", flags, err)
		}
	}
}

// TestMoreThanThereIsRoomFor: more operations in a turn than the queue holds,
// and more completions than theirs does; none is lost.
func TestMoreThanThereIsRoomFor(t *testing.T) {
	const many = 100
	r := start(t, 4, 8)
	for i := range many {
		a, _ := pair(t)
		r.Poll(a, unix.POLLOUT, uint64(i)) // ready at once
	}
	seen := map[uint64]bool{}
	for _, c := range next(t, r, many) {
		if seen[c.Data] || c.Result&unix.POLLOUT == 0 {
			t.Errorf("completion %+v, seen %v", c, seen[c.Data])
		}
		seen[c.Data] = true
	}
}

func TestPollAlways(t *testing.T) {
	r := start(t, 8, 16)
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	r.PollAlways(fd, unix.POLLIN, 1)
	none(t, r)
	for range 3 {
		write(t, fd, "\x01\x00\x00\x00\x00\x00\x00\x00")
		expect(t, next(t, r, 1)[0], 1, unix.POLLIN, true)
		var b [8]byte
		if _, err := unix.Read(fd, b[:]); err != nil {
			t.Fatal(err)
		}
		none(t, r)
	}
}

func TestWaitEndsInTime(t *testing.T) {
	r := start(t, 8, 16)
	before := time.Now()
	if n, err := r.Wait(20*time.Millisecond, 0); n != 0 || err != nil {
		t.Errorf("%d completions, %v", n, err)
	}
	if waited := time.Since(before); waited < 20*time.Millisecond {
		t.Errorf("waited %v, want 20 ms at least", waited)
	}
}

// TestCloseLeavesNothing: no descriptor and no mapping outlives a ring.
func TestCloseLeavesNothing(t *testing.T) {
	count := func() (descriptors int, mappings []byte) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), b
	}
	start(t, 8, 16) // whatever the first one brings along stays
	fds, _ := count()
	for range 10 {
		if err := Supported(); err != nil {
			t.Fatal(err)
		}
	}
	after, maps := count()
	if after != fds {
		t.Errorf("%d descriptors, %d before", after, fds)
	}
	// Of the one that is open: queues and submissions.
	if rings := bytes.Count(maps, []byte("[io_uring]\n")); rings != 2 {
		t.Errorf("%d mappings of rings, want 2\n%s", rings, maps)
	}
}
