package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cmd/internal/worker"
	"github.com/weighstone/weighstone/servers"
)

// workerName is the program, beside this one, of the process architectures whose
// processes have one connection at a time.
const workerName = "weighstone-worker"

// workerCommand is how the server's processes are started. Where these have
// one connection at a time they are a small program, which becomes this one for
// what it lacks; a loop could not, and is this one from the start.
func (v *service) workerCommand() (*weighstone.WorkerCommand, error) {
	main, err := self()
	if err != nil {
		return nil, err
	}
	app := worker.Application{Site: v.about, AccessLog: v.cmd.accessLog(), Main: main}
	arg, err := app.Argument()
	if err != nil {
		return nil, err
	}
	v.started = make(chan struct{})
	c := &weighstone.WorkerCommand{Args: []string{arg}, Board: v.board.File(), Files: []*os.File{v.posts}, Started: func() { close(v.started) }}
	if v.variant.Concurrent == servers.Workers {
		c.Path, err = beside(workerName)
		return c, err
	}
	c.Path, c.Args = main, append([]string{"worker"}, c.Args...)
	return c, nil
}

// self is the path of this program, as it was called if that is a path.
func self() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		path, err = os.Executable()
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return path, nil
}

// errNotBeside says that there is no such program.
var errNotBeside = errors.New("it is not")

// beside finds a program beside this one: where this was called, or where a
// symbolic link to it leads.
func beside(name string) (string, error) {
	called, err := self()
	if err != nil {
		return "", err
	}
	places := []string{filepath.Dir(called)}
	if real, err := os.Executable(); err == nil && filepath.Dir(real) != places[0] {
		places = append(places, filepath.Dir(real))
	}
	for _, dir := range places {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find %s: %w", name, err)
		}
	}
	return "", fmt.Errorf("find %s: %w in %s; make build makes it", name, errNotBeside, strings.Join(places, " or "))
}
