package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/testproc"
)

// thrown are the words with which the Go runtime ends a program that it gives up.
var thrown = []string{"fatal error:", "panic:", "goroutine ", "SIG"}

// TestFewDescriptors: under any descriptor limit that leaves the Go runtime its
// own descriptors, which it takes before main, a server serves, or says in words
// why it can't and exits with status 1.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	for _, variant := range plainest(t) {
		refused := false
		for _, limit := range []int{8, 9, 10, 12, 16, 24} {
			status, told := startLimited(t, limit, variant)
			refused = refused || status == 1
			for _, word := range thrown {
				if strings.Contains(told, word) {
					t.Errorf("%s with %d descriptors: %s", variant, limit, told)
				}
			}
			if status != 0 && (status != 1 || !strings.Contains(told, "weighstone: ")) {
				t.Errorf("%s with %d descriptors: status %d, and said %q", variant, limit, status, told)
			}
		}
		if !refused {
			t.Errorf("%s serves with 8 descriptors", variant)
		}
	}
}

// plainest are a variant of each family, the one that families begins with.
func plainest(t *testing.T) []string {
	t.Helper()
	names := []string{"nethttp", "epoll", "threads", "prefork"}
	if rowOf(t, "uring").Refused == "" {
		names = append(names, "uring")
	}
	return names
}

// startLimited starts a server that may have so many descriptors, ends it when it
// is ready, and returns its exit status and what it said on stderr.
func startLimited(t *testing.T, limit int, variant string) (status int, told string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, limit),
		built.program, "serve", variant, "--addr", "127.0.0.1:0", "--fixtures", built.fixtures, "--drain", "0s")
	journal := new(testproc.Journal)
	cmd.Stderr = journal
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "" {
		cmd.Process.Signal(syscall.SIGTERM)
	}
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), journal.String()
}

// TestStderrClosed: a server whose standard error nobody reads any more goes on,
// and so do its processes, of which none ends by SIGPIPE.
func TestStderrClosed(t *testing.T) {
	t.Parallel()
	page := content(t, "100.html")
	for _, variant := range []string{"epoll", "prefork", "symped"} {
		t.Run(variant, func(t *testing.T) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			cmd := exec.Command(built.program, "serve", variant, "--addr", "127.0.0.1:0", "--fixtures", built.fixtures,
				"--workers", "1", "--access-log", "-", "--access-log-buffer", "0")
			cmd.Stderr = write
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			write.Close()
			if err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			defer timer.Stop()
			defer cmd.Process.Kill()
			line, _ := bufio.NewReader(stdout).ReadString('\n')
			m := readyLine.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				t.Fatalf("ready line %q", line)
			}
			read.Close()
			for range 3 { // a line of the log each
				c, err := dial(m[2], false)
				if err != nil {
					t.Fatal(err)
				}
				defer c.close()
				if err := c.send(get("/100.html")); err != nil {
					t.Fatal(err)
				}
				if _, err := c.receive(page); err != nil {
					t.Error(err)
				}
				c.close()
			}
			if n := status(t, m[2])["crashes"]; n != 0.0 {
				t.Errorf("%v processes crashed", n)
			}
			cmd.Process.Signal(syscall.SIGTERM)
			// That lines were lost may fail it; a signal is to end it in no case.
			if cmd.Wait(); !cmd.ProcessState.Exited() {
				t.Errorf("the server ended with %v", cmd.ProcessState)
			}
		})
	}
}

// TestHelperWithoutDescriptors: a helper that can accept no more waits for those
// who hold its descriptors, and does not spin meanwhile.
func TestHelperWithoutDescriptors(t *testing.T) {
	t.Parallel()
	const limit = 16
	name := filepath.Join(t.TempDir(), "helper")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stdin, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0"`, limit), filepath.Join(filepath.Dir(built.program), "weighstone-helper"))
	cmd.Stdin = stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var clients []net.Conn
	for range 2 * limit {
		c, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients = append(clients, c)
	}
	// Descriptors are given out from the lowest on.
	full := func() bool {
		_, err := os.Lstat(fmt.Sprintf("/proc/%d/fd/%d", cmd.Process.Pid, limit-1))
		return err == nil
	}
	eventually(t, "all descriptors are in use", full)
	before := cpuTime(t, cmd.Process.Pid)
	time.Sleep(time.Second)
	// One that spins uses nearly all of its second, or its share of a busy core.
	if used := cpuTime(t, cmd.Process.Pid) - before; used > 150*time.Millisecond {
		t.Errorf("used %v of CPU in a second of waiting", used)
	}
	for _, c := range clients {
		c.Close()
	}
	eventually(t, "the descriptors are free", func() bool { return !full() })
}

// cpuTime is the CPU time that a process has used (proc_pid_stat(5): utime and
// stime, in ticks of 10 ms).
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}
