package postlog

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RecordBytes is the length of a record, and of what stands before the first.
const RecordBytes = 96

// magic marks a file as a log; it changes with the layout.
const magic = 0x77656967682d7031 // "weigh-p1"

// header is the beginning of the file, as it is mapped.
type header struct {
	magic      atomic.Uint64
	generation atomic.Uint64 // changes with each reset, after the rest
	seed       atomic.Uint64
	users      atomic.Uint64
	at         atomic.Int64
	counter    atomic.Uint64
	debt       atomic.Uint64 // see Owe
	_          [RecordBytes - 7*8]byte
}

// Facts are what all processes know since the last reset.
type Facts struct {
	Generation uint64 // counts the resets, 0 before the first
	Seed       uint64
	Users      int
	At         int64 // when it was, Unix time in seconds
}

// A Log is the log as one process has it. Its methods may be called by many
// goroutines.
type Log struct {
	file *os.File // an open file description of our own
	mem  []byte
	head *header
	sync bool

	mu     sync.Mutex // held by whoever holds the file's lock
	record []byte     // the workspace of Append
}

// ErrReset says that the log was reset meanwhile.
var ErrReset = errors.New("the log was reset meanwhile")

// Open opens the log behind a descriptor that [Create] made, in this process or
// another. With sync a record counts when it is on the disk.
func Open(shared *os.File, sync bool) (*Log, error) {
	l, err := attach(shared)
	if err != nil {
		return nil, fmt.Errorf("open the log of POSTs: %w", err)
	}
	l.sync = sync
	return l, nil
}

// attach opens and maps the file behind a descriptor, and lays it out if it is
// empty.
func attach(shared *os.File) (*Log, error) {
	// A second description of the same file, also of one without a name
	// (proc_pid_fd(5)).
	var file *os.File
	raw, err := shared.SyscallConn()
	if err == nil {
		cerr := raw.Control(func(fd uintptr) {
			file, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
		})
		if err == nil {
			err = cerr
		}
	}
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, record: make([]byte, 0, RecordBytes)}
	if err := l.exclusively(l.layOut); err != nil {
		file.Close()
		return nil, err
	}
	return l, nil
}

// layOut maps the header, and makes it if there is nothing yet.
func (l *Log) layOut() error {
	size, err := l.size()
	if err != nil {
		return err
	}
	fresh := size == 0
	if fresh {
		if err := l.file.Truncate(RecordBytes); err != nil {
			return err
		}
	} else if size < RecordBytes {
		return ErrForeign
	}
	if l.mem, err = unix.Mmap(int(l.file.Fd()), 0, RecordBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	l.head = (*header)(unsafe.Pointer(&l.mem[0]))
	if fresh {
		l.head.magic.Store(magic)
	}
	if l.head.magic.Load() != magic {
		unix.Munmap(l.mem)
		return ErrForeign
	}
	return nil
}

// Close unmaps the log and closes this process's descriptor of it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := unix.Munmap(l.mem)
	if cerr := l.file.Close(); err == nil {
		err = cerr
	}
	return err
}

// Generation returns how often the log was reset.
func (l *Log) Generation() uint64 { return l.head.generation.Load() }

// Count adds one to a counter that all processes share and no reset touches, and
// returns it.
func (l *Log) Count() uint64 { return l.head.counter.Add(1) }

// Owe notes that some process dropped a record, which another is to log twice
// for; Paid takes one such debt, if there is any. No reset touches them.
func (l *Log) Owe() { l.head.debt.Add(1) }

// Paid takes a debt that Owe has noted, and says whether there was one.
func (l *Log) Paid() bool {
	for {
		n := l.head.debt.Load()
		if n == 0 {
			return false
		}
		if l.head.debt.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// Facts returns what all know since the last reset.
func (l *Log) Facts() (f Facts, err error) {
	err = l.exclusively(func() error {
		h := l.head
		f = Facts{Generation: h.generation.Load(), Seed: h.seed.Load(), Users: int(h.users.Load()), At: h.at.Load()}
		return nil
	})
	return f, err
}

// Reset empties the log and sets new facts, but for the generation, which it
// counts.
func (l *Log) Reset(f Facts) error {
	err := l.exclusively(func() error {
		if err := l.file.Truncate(RecordBytes); err != nil {
			return err
		}
		h := l.head
		h.seed.Store(f.Seed)
		h.users.Store(uint64(f.Users))
		h.at.Store(f.At)
		h.generation.Add(1)
		return l.settle()
	})
	if err != nil {
		return fmt.Errorf("reset the log of POSTs: %w", err)
	}
	return nil
}

// Append adds the record that fill appends to dst, given its number; it must
// have the length of one. The lock is held meanwhile. The record is in the log
// when Append returns, whatever happens to this process.
func (l *Log) Append(fill func(dst []byte, number uint64) []byte) (number uint64, err error) {
	return l.append(nil, fill)
}

// AppendTo is Append, but to the log of that generation only: [ErrReset] says
// that it is gone.
func (l *Log) AppendTo(generation uint64, fill func(dst []byte, number uint64) []byte) (number uint64, err error) {
	return l.append(&generation, fill)
}

func (l *Log) append(generation *uint64, fill func(dst []byte, number uint64) []byte) (number uint64, err error) {
	err = l.exclusively(func() error {
		if generation != nil && *generation != l.head.generation.Load() {
			return ErrReset
		}
		size, err := l.whole()
		if err != nil {
			return err
		}
		number = uint64(size / RecordBytes)
		l.record = fill(l.record[:0], number)
		if len(l.record) != RecordBytes {
			return fmt.Errorf("a record has %d bytes, want %d", len(l.record), RecordBytes)
		}
		if _, err := l.file.WriteAt(l.record, size); err != nil {
			l.file.Truncate(size) // what was written of it; else the next holder cuts it
			return err
		}
		if err := l.settle(); err != nil {
			l.file.Truncate(size) // who is told that it failed has left no record
			return err
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("append to the log of POSTs: %w", err)
	}
	return number, nil
}

// Records returns where the records lie that there are now, for a reader of the
// file, which stays the log's.
func (l *Log) Records() (file *os.File, offset, length int64, err error) {
	var size int64
	if err = l.exclusively(func() (err error) { size, err = l.whole(); return err }); err != nil {
		return nil, 0, 0, fmt.Errorf("read the log of POSTs: %w", err)
	}
	return l.file, RecordBytes, size - RecordBytes, nil
}

// whole returns the length of the file, after cutting off what a process left
// that died while it wrote.
func (l *Log) whole() (int64, error) {
	size, err := l.size()
	if err != nil || size%RecordBytes == 0 {
		return size, err
	}
	size -= size % RecordBytes
	return size, l.file.Truncate(size)
}

func (l *Log) size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// settle brings what was written to the disk, if that is wanted.
func (l *Log) settle() error {
	if !l.sync {
		return nil
	}
	if err := unix.Fdatasync(int(l.file.Fd())); err != nil {
		return fmt.Errorf("fdatasync: %w", err)
	}
	return nil
}

// exclusively runs do while no other thread of any process is in here.
func (l *Log) exclusively(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lock(unix.F_WRLCK, unix.F_OFD_SETLKW); err != nil {
		return err
	}
	defer l.lock(unix.F_UNLCK, unix.F_OFD_SETLK)
	return do()
}

func (l *Log) lock(kind int16, command int) error {
	for {
		err := unix.FcntlFlock(l.file.Fd(), command, &unix.Flock_t{Type: kind})
		if err != unix.EINTR {
			if err != nil {
				return fmt.Errorf("lock: %w", err)
			}
			return nil
		}
	}
}
