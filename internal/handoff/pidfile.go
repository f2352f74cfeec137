package handoff

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkPIDFile fails if the pid file can't be written when it is time to, by
// way of a temporary file beside it as the library does: better now than when
// the sockets are open.
func checkPIDFile(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// RemovePIDFile removes the pid file if it still names this process.
func (h *Handoff) RemovePIDFile() {
	if h.opts.PIDFile == "" {
		return
	}
	b, err := os.ReadFile(h.opts.PIDFile)
	if err == nil && string(b) == fmt.Sprint(os.Getpid()) {
		os.Remove(h.opts.PIDFile)
	}
}
