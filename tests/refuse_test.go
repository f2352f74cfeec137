package tests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutRole makes this test binary a process that may not use io_uring, and
// then the program that its arguments name.
const withoutRole = "WEIGHSTONE_TESTS_WITHOUT_URING"

// without forbids io_uring_setup(2) to this process by a filter of seccomp(2), as
// the default profile of container engines does, and becomes the program.
func without() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_IO_URING_SETUP, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("install a filter: %w", errno)
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// runWithout runs the program where io_uring is forbidden, to its end.
func runWithout(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{built.program}, args...)...)
	cmd.Env = append(os.Environ(), withoutRole+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestRefusedWithoutUring: where io_uring is forbidden the variant does not
// serve in another way: it says why it can't.
func TestRefusedWithoutUring(t *testing.T) {
	const reason = "uring can't run here: set up io_uring: operation not permitted"
	stdout, stderr, status := runWithout(t, "serve", "uring", "--addr", "127.0.0.1:0", "--fixtures", built.fixtures)
	if status != 1 || stdout != "" || !strings.HasPrefix(stderr, "weighstone: "+reason) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, stdout %q, stderr %q, want 1, nothing and the reason on one line", status, stdout, stderr)
	}
	stdout, _, status = runWithout(t, "variants", "uring")
	if status != 0 || !strings.Contains(stdout, "no: "+reason) {
		t.Errorf("variants uring: exit status %d, %q, want the reason", status, stdout)
	}
	stdout, _, status = runWithout(t, "variants", "--json")
	if status != 0 || strings.Count(stdout, `"refused": "`+reason) != 1 {
		t.Errorf("variants --json: exit status %d, %q, want the reason once", status, stdout)
	}
}
