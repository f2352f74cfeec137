package handoff

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The library holds what it hands over as os.File. For a non-blocking socket
// that means a registration with the runtime's poller, and so a wake-up of the
// runtime for each connection that arrives at a listener, in servers whose
// point is a loop of their own. So the library gets our descriptors only for
// the time of a restart, and a stand-in for the rest.

// Listeners returns the inherited listening sockets in the order in which
// they were shared, none in a first process. The caller owns them. All must be
// served, also if there are more than workers: closing one of several
// SO_REUSEPORT sockets resets the connections that wait in its queue.
func (h *Handoff) Listeners(service string) ([]int, error) {
	var fds []int
	for {
		f, err := h.File(service + "." + strconv.Itoa(len(fds)))
		if err != nil || f == nil {
			return fds, err
		}
		fd, err := dup(f)
		f.Close()
		if err != nil {
			return fds, fmt.Errorf("inherit listener: %w", err)
		}
		fds = append(fds, fd)
	}
}

// ShareListeners hands fds to each successor, under a name of their own each:
// the library would take two listeners on one address for the same.
func (h *Handoff) ShareListeners(service string, fds []int) {
	for i, fd := range fds {
		h.Share(service+"."+strconv.Itoa(i), fd)
	}
}

// Share hands fd to each successor under name. It stays the caller's, who
// keeps it open.
func (h *Handoff) Share(name string, fd int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shared = append(h.shared, shared{name, fd})
}

// File returns the descriptor inherited under name, the caller's from now on,
// or nil if there is none.
func (h *Handoff) File(name string) (*os.File, error) {
	f, err := h.upg.File(name)
	if err != nil {
		return nil, fmt.Errorf("inherit %s: %w", name, err)
	}
	if f == nil {
		return nil, nil
	}
	if err := h.upg.AddFile(name, h.blank); err != nil {
		f.Close()
		return nil, fmt.Errorf("inherit %s: %w", name, err)
	}
	return f, nil
}

// lend gives the library the shared descriptors.
func (h *Handoff) lend() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.shared {
		fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("hand on %s: %w", s.name, err)
		}
		f := os.NewFile(uintptr(fd), s.name)
		err = h.upg.AddFile(s.name, f)
		f.Close()
		if err != nil {
			return fmt.Errorf("hand on %s: %w", s.name, err)
		}
	}
	return nil
}

// takeBack makes the library drop them again. It has no call for that, but
// lets go of what another file replaces; the collector closes it.
func (h *Handoff) takeBack() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.shared {
		if err := h.upg.AddFile(s.name, h.blank); err != nil {
			h.opts.Log.Warn("a descriptor lent for a restart was not taken back", "name", s.name, "error", err)
		}
	}
}

// dup copies f's descriptor without changing its blocking mode, which
// [os.File.Fd] would do for all processes that share it.
func dup(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	cerr := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if cerr != nil {
		return -1, cerr
	}
	return fd, err
}
