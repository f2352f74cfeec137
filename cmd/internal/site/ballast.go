package site

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A ballast is memory that a process holds and has touched, as one with large
// caches does. It costs nothing but what it costs to be large.
type ballast []byte

// newBallast takes so many bytes. They lie in small pages: with huge ones the
// kernel would have five hundred times less of them to keep account of, and so
// little to copy when the process forks.
func newBallast(size int64) (ballast, error) {
	if size == 0 {
		return nil, nil
	}
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("take a ballast of %d bytes: %w", size, os.NewSyscallError("mmap", err))
	}
	// A kernel without huge pages does not know the advice, and needs none.
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	for at := 0; at < len(b); at += os.Getpagesize() {
		b[at] = 1
	}
	return b, nil
}

// Close gives the memory back.
func (b ballast) Close() error {
	if b == nil {
		return nil
	}
	return os.NewSyscallError("munmap", unix.Munmap(b))
}
