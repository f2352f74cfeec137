package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// emptyLog empties the server's access log, which it appends to.
func (c *cell) emptyLog() error {
	if c.log == "" {
		return nil
	}
	if err := os.Truncate(c.log, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("empty the access log: %w", err)
	}
	return nil
}

// stopFor stops the server for as long as the cell says, so that what connects
// meanwhile waits in the kernel's queue and beyond. The function that it
// returns lets the server go on in any case, and waits until nobody will signal
// it any more.
func (c *cell) stopFor() (goOn func(), err error) {
	if c.load.pause == 0 {
		return func() {}, nil
	}
	pid, err := c.subject.Pid()
	if err != nil {
		return nil, err
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("stop the server for a while: %w", err)
	}
	enough, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-time.After(c.load.pause):
		case <-enough:
		}
		// It fails only when the server has died, which shows elsewhere.
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}()
	return func() { close(enough); <-gone }, nil
}
