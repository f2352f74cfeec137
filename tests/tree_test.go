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

// workerProgram is what a worker of a process architecture is called.
const workerProgram = "weighstone-worker"

// helperProgram is what starts CGI programs at /cgi-helper/.
const helperProgram = "weighstone-helper"

// isWorker says whether a process is a worker of a process architecture.
func isWorker(pid int) bool {
	return programOf(pid) == workerProgram
}

// programOf is the name of the program that a process runs, empty if it has
// ended.
func programOf(pid int) string {
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	first, _, _ := strings.Cut(string(args), "\x00")
	if err != nil || first == "" {
		return ""
	}
	return filepath.Base(first)
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
