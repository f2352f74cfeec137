package postlog

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Kind is where a log lies, and when a record counts as written.
type Kind string

// The kinds.
const (
	Memory Kind = "memory" // a memfd
	File   Kind = "file"   // a file, which the system writes out when it likes
	Synced Kind = "fsync"  // a file, written out (fdatasync(2)) before a record counts
)

// ErrForeign means that a file is not a log of this layout.
var ErrForeign = errors.New("the file is not a log of POSTs, or of another layout")

// Create makes a log, or goes on with the one in the file name if that is
// there. Without a name a file has none and is gone with the last process that
// has it. The descriptor is to be handed to all processes, each of which opens
// the log by it; it stays the caller's.
func Create(kind Kind, name string) (*os.File, error) {
	file, err := create(kind, name)
	if err != nil {
		return nil, fmt.Errorf("make the log of POSTs: %w", err)
	}
	if err := initialise(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("make the log of POSTs: %w", err)
	}
	return file, nil
}

func create(kind Kind, name string) (*os.File, error) {
	switch {
	case kind == Memory:
		fd, err := unix.MemfdCreate("weighstone-posts", unix.MFD_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("memfd_create: %w", err)
		}
		return os.NewFile(uintptr(fd), "weighstone-posts"), nil
	case kind != File && kind != Synced:
		return nil, fmt.Errorf("kind %q: expected %s, %s or %s", string(kind), Memory, File, Synced)
	case name != "":
		return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	}
	file, err := os.CreateTemp("", "weighstone-posts-")
	if err == nil {
		err = os.Remove(file.Name())
	}
	return file, err
}

// initialise lays out an empty file, unless another process does.
func initialise(file *os.File) error {
	l, err := attach(file)
	if err != nil {
		return err
	}
	return l.Close()
}
