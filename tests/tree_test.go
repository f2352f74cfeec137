package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children are the process ids of a process's children, zombies included.
func children(t *testing.T, pid int) []int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("%s: %v", list, err)
			}
			all = append(all, child)
		}
	}
	return all
}

// isWorker says whether a process is a worker of a process architecture: the
// small program, or the main one in this role.
func isWorker(pid int) bool {
	program, role := programOf(pid)
	return program == "weighstone-worker" || program == "weighstone" && role == "worker"
}

// isHelper says whether a process is what starts CGI programs at /cgi-helper/.
func isHelper(pid int) bool {
	program, _ := programOf(pid)
	return program == "weighstone-helper"
}

// programOf is the name of the program that a process runs, empty if it has
// ended, and its first argument.
func programOf(pid int) (name, first string) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(string(line), "\x00")
	if err != nil || args[0] == "" {
		return "", ""
	}
	return filepath.Base(args[0]), args[1]
}

// processes are those that serve: a process, and its workers if it has any.
func processes(t *testing.T, pid int) []int {
	t.Helper()
	all := []int{pid}
	for _, child := range children(t, pid) {
		if isWorker(child) {
			all = append(all, child)
		}
	}
	return all
}
