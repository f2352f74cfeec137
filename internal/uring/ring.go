package uring

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Ring is one io_uring: a queue of operations to submit and one of completions.
// Any thread makes it; the one that calls [Ring.Start] is the only one to use it
// from then on, up to and with [Ring.Close].
type Ring struct {
	fd         int
	features   uint32
	enterFD    int     // what enter names the ring by
	enterFlags uintptr // and how

	rings, entries []byte // the memory shared with the kernel

	sqHead, sqTail *uint32 // the kernel moves the head, we the tail
	sqes           []sqe
	tail           uint32 // of what is written, up to sqTail published

	cqHead, cqTail *uint32 // we move the head, the kernel the tail
	cqes           []Completion
	head           uint32 // of what is taken, from cqHead on

	ts  unix.Timespec // of the wait; here, since the kernel finds it by address
	arg eventsArg
	err error // of a submission that failed
}

// A Completion is what an operation came to (struct io_uring_cqe).
type Completion struct {
	Data   uint64 // what the operation was submitted with
	Result int32  // not negative: as the system call returns; negative: the errno
	flags  uint32
}

// Errno is the error of the operation, 0 for none.
func (c *Completion) Errno() unix.Errno {
	if c.Result < 0 {
		return unix.Errno(-c.Result)
	}
	return 0
}

// More says that the operation goes on and will complete again.
func (c *Completion) More() bool { return c.flags&cqeMore != 0 }

// Buffer is the number of the buffer that the kernel filled, if it took one.
func (c *Completion) Buffer() (id uint16, ok bool) {
	return uint16(c.flags >> cqeBufferShift), c.flags&cqeBuffer != 0
}

// New makes a ring for submissions operations to be submitted at a time; room
// for completions is there for that many, and the kernel keeps more for later.
// Both are powers of two.
func New(submissions, completions uint32) (*Ring, error) {
	p := setupParams{
		cqEntries: completions,
		flags:     setupCQSize | setupRDisabled | setupSubmitAll | setupCoopTaskrun | setupSingleIssuer | setupDeferTaskrun,
	}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(submissions), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("set up io_uring: %w%s", errno, why(errno))
	}
	r := &Ring{fd: int(fd), enterFD: int(fd), features: p.features}
	if missing := featSingleMmap | featNoDrop | featSubmitStable | featExtArg; p.features&uint32(missing) != uint32(missing) {
		r.Close()
		return nil, fmt.Errorf("set up io_uring: the kernel has features %#x of the needed %#x", p.features, missing)
	}
	if err := r.mapMemory(&p); err != nil {
		r.Close()
		return nil, fmt.Errorf("set up io_uring: %w", err)
	}
	return r, nil
}

// why explains the errors of io_uring_setup that an operator can mend.
func why(errno unix.Errno) string {
	switch errno {
	case unix.EPERM:
		if b, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); err == nil && len(b) > 0 && b[0] != '0' {
			return " (kernel.io_uring_disabled is " + string(b[:1]) + ")"
		}
		return " (a seccomp profile or security module forbids it)"
	case unix.ENOSYS:
		return " (the kernel is built without it, or a seccomp profile forbids it)"
	case unix.EINVAL:
		return " (it needs Linux 6.1)"
	}
	return ""
}

// mapMemory maps the queues and finds their parts.
func (r *Ring) mapMemory(p *setupParams) (err error) {
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(Completion{})))
	const how = unix.MAP_SHARED | unix.MAP_POPULATE
	if r.rings, err = unix.Mmap(r.fd, offRings, int(size), unix.PROT_READ|unix.PROT_WRITE, how); err != nil {
		return fmt.Errorf("map the queues: %w", err)
	}
	size = p.sqEntries * uint32(unsafe.Sizeof(sqe{}))
	if r.entries, err = unix.Mmap(r.fd, offSQEs, int(size), unix.PROT_READ|unix.PROT_WRITE, how); err != nil {
		return fmt.Errorf("map the submissions: %w", err)
	}
	word := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[offset])) }
	r.sqHead, r.sqTail = word(p.sq.head), word(p.sq.tail)
	r.cqHead, r.cqTail = word(p.cq.head), word(p.cq.tail)
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.entries[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*Completion)(unsafe.Pointer(&r.rings[p.cq.cqes])), p.cqEntries)
	// The queue proper holds indices of submissions. Ours are used in turn.
	for i, array := uint32(0), unsafe.Slice(word(p.sq.array), p.sqEntries); i < p.sqEntries; i++ {
		array[i] = i
	}
	return nil
}

// Start gives the ring to the calling thread, which its goroutine must have
// locked.
func (r *Ring) Start() error {
	if _, errno := r.register(registerEnable, nil, 0); errno != 0 {
		return fmt.Errorf("enable io_uring: %w", errno)
	}
	// Registered with the thread, the ring is found without counting a
	// reference to its file at every enter.
	update := struct {
		offset uint32 // asked: ^0, any; answered: which
		_      uint32
		fd     uint64
	}{offset: ^uint32(0), fd: uint64(r.fd)}
	n, errno := r.register(registerRingFDs, unsafe.Pointer(&update), 1)
	if errno != 0 || n != 1 {
		return fmt.Errorf("register the io_uring with its thread: %w", errno)
	}
	r.enterFD, r.enterFlags = int(update.offset), enterRegisteredRing
	if r.features&featNoIOWait != 0 {
		r.enterFlags |= enterNoIOWait // waiting for a client is no waiting for a disk
	}
	return nil
}

// Close ends the ring and whatever operation is still going on.
func (r *Ring) Close() {
	if r.enterFlags&enterRegisteredRing != 0 {
		update := struct {
			offset, _ uint32
			_         uint64
		}{offset: uint32(r.enterFD)}
		r.register(unregisterRingFDs, unsafe.Pointer(&update), 1)
	}
	for _, m := range [][]byte{r.rings, r.entries} {
		if m != nil {
			unix.Munmap(m)
		}
	}
	unix.Close(r.fd)
}

func (r *Ring) register(op uintptr, arg unsafe.Pointer, n uintptr) (int, unix.Errno) {
	v, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), op, uintptr(arg), n, 0, 0)
	return int(v), errno
}

// Wait submits what has been asked for and waits for a completion: not at all
// for a timeout of 0, for ever for a negative one. It returns how many there are
// to take. For hold it does so without a word to the Go scheduler, as
// [sys.EpollWait] does; under load the one call brings completions too. A signal
// counts as a wait without completions.
func (r *Ring) Wait(timeout, hold time.Duration) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	if timeout >= 0 {
		hold = min(hold, timeout)
	}
	var errno unix.Errno
	if submit := r.publish(); submit > 0 || hold > 0 || timeout == 0 {
		arg, size := r.until(hold)
		_, _, errno = unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFD), submit, atLeast(hold), r.enterFlags|enterGetEvents|enterExtArg, arg, size)
	}
	if (errno == 0 || errno == unix.ETIME) && timeout != hold && r.ready() == 0 {
		arg, size := r.until(timeout - hold)
		_, _, errno = unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFD), r.publish(), 1, r.enterFlags|enterGetEvents|enterExtArg, arg, size)
	}
	switch errno {
	case 0, unix.EINTR, unix.ETIME, unix.EAGAIN, unix.EBUSY: // the last two: memory is short, or completions are to be taken first
		return r.ready(), nil
	}
	return 0, fmt.Errorf("io_uring_enter: %w", errno)
}

// atLeast is how many completions end a wait of that length: none is waited for
// in one of 0.
func atLeast(wait time.Duration) uintptr {
	if wait == 0 {
		return 0
	}
	return 1
}

// until sets the time limit of the next call, none for a negative one, and
// returns its argument, which lies in r.
func (r *Ring) until(limit time.Duration) (arg, size uintptr) {
	r.arg = eventsArg{}
	if limit >= 0 {
		r.ts = unix.NsecToTimespec(int64(limit))
		r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.ts)))
	}
	return uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg)
}

// publish hands the kernel what is written and returns how many operations it
// has not taken yet.
func (r *Ring) publish() uintptr {
	atomic.StoreUint32(r.sqTail, r.tail) // after what lies before it: the kernel reads it first
	return uintptr(r.tail - atomic.LoadUint32(r.sqHead))
}

// ready is how many completions can be taken.
func (r *Ring) ready() int { return int(atomic.LoadUint32(r.cqTail) - r.head) }

// Next takes one completion of those that Wait has announced. It is valid until
// the next call.
func (r *Ring) Next() *Completion {
	c := &r.cqes[r.head&uint32(len(r.cqes)-1)]
	r.head++
	return c
}

// Taken gives the room of the completions taken back to the kernel.
func (r *Ring) Taken() { atomic.StoreUint32(r.cqHead, r.head) }

// submission returns the next free place in the queue, zeroed. When it is full,
// what is in it is submitted first; if that fails, so does the next Wait.
func (r *Ring) submission() *sqe {
	for r.tail-atomic.LoadUint32(r.sqHead) == uint32(len(r.sqes)) {
		_, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.enterFD), r.publish(), 0, r.enterFlags, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			r.err = fmt.Errorf("submit to io_uring: %w", errno)
			return new(sqe)
		}
	}
	s := &r.sqes[r.tail&uint32(len(r.sqes)-1)]
	r.tail++
	*s = sqe{}
	return s
}
