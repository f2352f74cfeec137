package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/sys"
)

// inNamespaces names, in the environment of the process that has namespaces of
// its own, those that it was started from. Whoever else sets it is not taken to
// be inside: what is mounted would be mounted for all.
const inNamespaces = "WEIGHSTONE_NAMESPACES"

// enterNamespaces has this program run once more in namespaces of its own
// (CLONE_NEWNET, CLONE_NEWNS), and there says that it is inside. Outside it
// returns when that one has ended, with an error if that failed. A signal of the
// terminal reaches both; the end of this one ends the inner one too.
func enterNamespaces(flags uintptr, s *streams) (inside bool, err error) {
	here, err := namespaces(flags)
	if err != nil {
		return false, err
	}
	if from := os.Getenv(inNamespaces); from != "" {
		if !elsewhere(from, here) {
			return false, usagef("%s is set, but is not for you to set", inNamespaces)
		}
		return true, nil
	}
	// The inner one is to end when this thread does, which is then the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program, err := self()
	if err != nil {
		return false, err
	}
	cmd := exec.Command(program, s.args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	cmd.Env = append(os.Environ(), inNamespaces+"="+here)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGTERM}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	err = cmd.Run()
	if errors.As(err, new(*exec.ExitError)) {
		return false, errSilent // it has said why
	}
	if err != nil {
		return false, fmt.Errorf("no namespaces of one's own can be made here: %w", err)
	}
	return false, nil
}

// namespaces names those of this process that the flags are about, one a word.
func namespaces(flags uintptr) (string, error) {
	var all []string
	for _, kind := range []struct {
		flag uintptr
		name string
	}{{syscall.CLONE_NEWNET, "net"}, {syscall.CLONE_NEWNS, "mnt"}} {
		if flags&kind.flag == 0 {
			continue
		}
		name, err := os.Readlink("/proc/self/ns/" + kind.name)
		if err != nil {
			return "", fmt.Errorf("look at the namespaces: %w", err)
		}
		all = append(all, name)
	}
	return strings.Join(all, " "), nil
}

// elsewhere says whether a process with the namespaces of here has each of them
// apart from those it was started from.
func elsewhere(from, here string) bool {
	a, b := strings.Fields(from), strings.Fields(here)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		kind, _, known := strings.Cut(b[i], ":")
		if !known || !strings.HasPrefix(a[i], kind+":") || a[i] == b[i] {
			return false
		}
	}
	return true
}

// mountFlag is what mount(2) calls an option. In 2001 the file sets were mounted
// with the first two: reads then leave no trace in the inodes.
func mountFlag(option string) uintptr {
	switch option {
	case "ro":
		return unix.MS_RDONLY
	case "noatime":
		return unix.MS_NOATIME
	}
	return unix.MS_STRICTATIME // the inode is written at each read, as everywhere then
}

// mounted returns another name of a directory, at which it is mounted with an
// option of [mountFlag], for this process's namespace and its children. It vanishes
// with them.
func mounted(dir, option string) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("--mount %s: %w", option, err) }
	// What is mounted here is to stay here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail(os.NewSyscallError("mount", err))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	at, err := os.MkdirTemp("", "weighstone-mount-")
	if err != nil {
		return fail(err)
	}
	if err := unix.Mount(dir, at, "", unix.MS_BIND, ""); err != nil {
		os.Remove(at)
		return fail(os.NewSyscallError("mount", err))
	}
	if err := unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|mountFlag(option), ""); err != nil {
		unmount(at)
		return fail(os.NewSyscallError("mount", err))
	}
	return at, nil
}

// unmount undoes mounted.
func unmount(at string) {
	unix.Unmount(at, unix.MNT_DETACH)
	os.Remove(at)
}

// delayLoopback brings up the loopback of this process's network and has the
// kernel delay each packet that goes through it (tc-netem(8)).
func delayLoopback(delay time.Duration) error {
	if err := sys.UpLoopback(); err != nil {
		return err
	}
	out, err := exec.Command("tc", "qdisc", "add", "dev", "lo", "root", "netem",
		"delay", fmt.Sprintf("%dus", delay.Microseconds()), "limit", "1000000").CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("tc is not here: the Debian package iproute2 brings it")
	case err != nil:
		return fmt.Errorf("the kernel does not delay packets here (that needs sch_netem): tc said: %s", bytes.TrimSpace(out))
	}
	return nil
}
