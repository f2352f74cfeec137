package experiment

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

// hogRole is the first argument of a test binary that is to use up a core.
const hogRole = "be-a-hog"

// hog works on a core until its input ends.
func hog(core string) error {
	n, err := strconv.Atoi(core)
	if err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	runtime.LockOSThread()
	if err := sys.PinThread(n); err != nil {
		return err
	}
	fmt.Println("busy")
	for x := uint64(1); ; x = x*6364136223846793005 + 1442695040888963407 {
		if x == 0 {
			sink.Store(x)
		}
	}
}

// startHog has a process take its share of a core until the test is over.
func startHog(t *testing.T, core int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, hogRole, strconv.Itoa(core))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := out.Read(make([]byte, len("busy\n"))); err != nil {
		t.Fatal(err)
	}
}
