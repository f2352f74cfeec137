package testproc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/weighstone/weighstone/internal/sys"
)

// Hog works on a core until its input ends, which ends the process. It is the
// role of a child; it returns only if it can't work there.
func Hog(core string) error {
	n, err := strconv.Atoi(core)
	if err != nil {
		return fmt.Errorf("work on a core: %w", err)
	}
	runtime.LockOSThread()
	if err := sys.PinThread(n); err != nil {
		return fmt.Errorf("work on a core: %w", err)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("busy")
	for n := uint32(1); n > 0; n += 2 { // an odd number stays one
	}
	return nil
}

// StartHog starts a child that is a [Hog] and waits until it works. It does so
// until the test is over.
func StartHog(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	Start(t, cmd).Line()
}
