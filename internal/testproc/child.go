package testproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A Child is a process of a test, mostly the test binary in another role. They
// talk in lines. It ends with its test at the latest. It must end when its
// input does: a test that is killed leaves it no other word (PR_SET_PDEATHSIG
// would end it with the thread that started it, which may be another
// goroutine's, locked, by then).
type Child struct {
	*exec.Cmd
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// Self is the command that runs the test binary with more in its environment.
func Self(env ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// Start starts a command. What it says on stderr is the test's.
func Start(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
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
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &Child{Cmd: cmd, t: t, in: in, out: bufio.NewReader(out)}
}

// Line reads a line that the child says.
func (c *Child) Line() string {
	c.t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("a line of the child: %v", err)
	}
	return strings.TrimSuffix(s, "\n")
}

// Lines gives what the child says to a function, line by line, until it says no
// more.
func (c *Child) Lines(each func(line string)) {
	for lines := bufio.NewScanner(c.out); lines.Scan(); {
		each(lines.Text())
	}
}

// Tell says a line to the child.
func (c *Child) Tell(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatal(err)
	}
}

// Close ends the child's input, which tells it to end.
func (c *Child) Close() { c.in.Close() }

// End closes the child's input and wants it to end well.
func (c *Child) End() {
	c.t.Helper()
	c.Close()
	if err := c.Wait(); err != nil {
		c.t.Errorf("the child: %v", err)
	}
}
