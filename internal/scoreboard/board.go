// Package scoreboard keeps the counters of all processes that serve one site
// in memory they share, so that any of them answers /server-status for all and
// a restart loses no count.
package scoreboard

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weighstone/weighstone"
	"golang.org/x/sys/unix"
)

// DefaultSlots is room for the workers of a server, of its successor, and of a
// predecessor that still drains.
const DefaultSlots = 1024

// magic marks the memory as a board; it changes with the layout.
const magic = 0x77656967682d3033 // "weigh-03"

// header begins the shared memory. All of it is fixed at the start but the
// counts of restarts and crashes.
type header struct {
	magic    uint64
	record   uint64 // bytes a record
	records  uint64
	started  int64 // Unix time in nanoseconds
	restarts atomic.Int64
	crashes  atomic.Int64
	_        [16]byte
}

// record is a slot and who counts in it. The owner has a cache line of its
// own, since others look at it while the worker counts.
type record struct {
	owner    atomic.Uint64 // an [identity], 0 when free
	borrower atomic.Uint64 // process id of the worker that the owner lent it to, 0 for none
	_        [48]byte
	slot     weighstone.Slot
	_        [(64 - unsafe.Sizeof(weighstone.Slot{})%64) % 64]byte
}

// A Board is the shared memory, a memfd, as mapped by this process. It lives
// until [Board.Close]; the memory itself, as long as any process has the
// descriptor or a mapping. Its methods may be called by many goroutines.
type Board struct {
	file    *os.File
	mem     []byte
	head    *header
	records []record
	self    identity
}

// New makes the board of a first process, with room for n slots.
func New(n int) (*Board, error) {
	fd, err := unix.MemfdCreate("weighstone-scoreboard", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make scoreboard: memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "scoreboard")
	size := int64(unsafe.Sizeof(header{})) + int64(n)*int64(unsafe.Sizeof(record{}))
	if err := file.Truncate(size); err != nil {
		file.Close()
		return nil, fmt.Errorf("make scoreboard: %w", err)
	}
	b, err := attach(file, size)
	if err != nil {
		return nil, fmt.Errorf("make scoreboard: %w", err)
	}
	b.head.record = uint64(unsafe.Sizeof(record{}))
	b.head.records = uint64(n)
	b.head.started = time.Now().UnixNano()
	b.head.magic = magic
	b.bound(n)
	return b, nil
}

// ErrLayout means that the memory was made by a program that counts otherwise:
// the successor is another build. It should begin with a new board.
var ErrLayout = errors.New("the scoreboard has another layout")

// Open maps the board that a predecessor handed on as file, which it takes
// over, also when it fails.
func Open(file *os.File) (*Board, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open scoreboard: %w", err)
	}
	size := info.Size()
	if size < int64(unsafe.Sizeof(header{})) {
		file.Close()
		return nil, fmt.Errorf("open scoreboard of %d bytes: %w", size, ErrLayout)
	}
	b, err := attach(file, size)
	if err != nil {
		return nil, fmt.Errorf("open scoreboard: %w", err)
	}
	room := (size - int64(unsafe.Sizeof(header{}))) / int64(unsafe.Sizeof(record{}))
	if b.head.magic != magic || b.head.record != uint64(unsafe.Sizeof(record{})) || b.head.records != uint64(room) {
		b.Close()
		return nil, fmt.Errorf("open scoreboard: %w", ErrLayout)
	}
	b.bound(int(room))
	return b, nil
}

// attach maps size bytes of file and owns it from then on.
func attach(file *os.File, size int64) (*Board, error) {
	mem, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	self, err := identify(os.Getpid())
	if err != nil {
		unix.Munmap(mem)
		file.Close()
		return nil, err
	}
	return &Board{file: file, mem: mem, head: (*header)(unsafe.Pointer(&mem[0])), self: self}, nil
}

// bound lays n records over the memory behind the header.
func (b *Board) bound(n int) {
	if n > 0 {
		b.records = unsafe.Slice((*record)(unsafe.Pointer(&b.mem[unsafe.Sizeof(header{})])), n)
	}
}

// File returns the descriptor to hand to a successor. It stays the board's.
func (b *Board) File() *os.File { return b.file }

// Started returns when the first process of the line made the board.
func (b *Board) Started() time.Time { return time.Unix(0, b.head.started) }

// Restarted counts a restart: this process is a successor and serves.
func (b *Board) Restarted() { b.head.restarts.Add(1) }

// Restarts returns how many restarts there have been.
func (b *Board) Restarts() int64 { return b.head.restarts.Load() }

// Crashed counts a process of the server that ended badly: a worker, or one that
// answers for a gateway.
func (b *Board) Crashed() { b.head.crashes.Add(1) }

// Crashes returns how many have, in all processes of the line.
func (b *Board) Crashes() int64 { return b.head.crashes.Load() }

// Close gives this process's slots back and unmaps the memory. No worker may
// count afterwards.
func (b *Board) Close() error {
	b.Release()
	b.records = nil
	err := unix.Munmap(b.mem)
	if cerr := b.file.Close(); err == nil {
		err = cerr
	}
	return err
}
