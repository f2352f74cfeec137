package process

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// taken is a handover as the configuration of the program that takes it. The
// process remains the same: so do its descriptors, and its master notices
// nothing.
type taken struct {
	Conn     int    // the connection
	Ahead    int    // a memfd of what was read of it
	Answered int    // requests
	Said     []byte // by the master, and to be heeded by this program too
}

// read turns it into what a server is made with.
func (t *taken) read() (*weighstone.Handover, error) {
	file := os.NewFile(uintptr(t.Ahead), "ahead")
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	ahead := make([]byte, info.Size())
	if _, err := file.ReadAt(ahead, 0); err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &weighstone.Handover{Conn: t.Conn, Ahead: ahead, Answered: t.Answered}, nil
}

// Become makes this process another program, which takes over its connection
// and goes on as the same worker: argv is the other program's command line but
// for its last argument, which the worker adds, and argv[0] its path. It
// returns only if it fails.
func (w *Worker) Become(argv []string, h weighstone.Handover) error {
	w.mu.Lock() // what the master says from now on is for the other program
	defer w.mu.Unlock()
	ahead, err := memory(h.Ahead)
	if err != nil {
		return err
	}
	defer ahead.Close()
	config := w.Config
	config.Taken = &taken{Conn: h.Conn, Ahead: int(ahead.Fd()), Answered: h.Answered, Said: w.said}
	arg, err := config.argument()
	if err != nil {
		return err
	}
	inherited := []int{controlFD, boardFD, h.Conn, config.Taken.Ahead}
	for i := range config.Listeners {
		inherited = append(inherited, listenerFD+i)
	}
	for i := range config.Files {
		inherited = append(inherited, config.FirstFile+i)
	}
	for _, fd := range inherited {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("hand on descriptor %d: %w", fd, err)
		}
	}
	err = syscall.Exec(argv[0], append(argv, arg), os.Environ())
	for _, fd := range inherited {
		unix.CloseOnExec(fd)
	}
	return fmt.Errorf("execute %s: %w", argv[0], err)
}

// memory makes a file of b that has no name.
func memory(b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("ahead", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "ahead")
	if _, err := file.Write(b); err != nil {
		file.Close()
		return nil, fmt.Errorf("write what was read ahead: %w", err)
	}
	return file, nil
}
