package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cmd/internal/worker"
)

// workerName is the program that process architectures run, beside this one.
const workerName = "weighstone-worker"

// workerCommand is how the server's processes are started.
func (v *service) workerCommand() (*weighstone.WorkerCommand, error) {
	path, err := workerProgram()
	if err != nil {
		return nil, err
	}
	app := worker.Application{Site: v.about, AccessLog: v.cmd.AccessLog}
	arg, err := app.Argument()
	if err != nil {
		return nil, err
	}
	v.started = make(chan struct{})
	return &weighstone.WorkerCommand{
		Path: path, Args: []string{arg}, Board: v.board.File(),
		Started: func() { close(v.started) },
	}, nil
}

// workerProgram finds the worker beside this program: where it was called, or
// where a symbolic link leads.
func workerProgram() (string, error) {
	var tried []string
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		tried = append(tried, called)
	}
	if self, err := os.Executable(); err == nil {
		tried = append(tried, self)
	}
	for _, self := range tried {
		path, err := filepath.Abs(filepath.Join(filepath.Dir(self), workerName))
		if err != nil {
			return "", fmt.Errorf("find %s: %w", workerName, err)
		}
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find %s: %w", workerName, err)
		}
	}
	return "", fmt.Errorf("find %s: it is not beside this program; make build builds both", workerName)
}
