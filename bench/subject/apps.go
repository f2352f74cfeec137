package subject

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/internal/proc"
)

// appBacklog is the length of an application's queue, in connections: as many
// as a listener of the servers has.
const appBacklog = 4096

// startApps starts the applications of a server whose own files are in dir.
// Those that were started are returned also with an error.
func (l *Local) startApps(dir string) (all []*proc.Process, err error) {
	for _, a := range l.recipe.Apps {
		cpus := l.options.CPUs
		if a.Apart {
			cpus = l.options.AppCPUs
		}
		socket, err := listenUnix(a.socket(dir))
		if err != nil {
			return all, fmt.Errorf("application %s: %w", a.Name, err)
		}
		for range a.processes() {
			p, err := l.options.Spawner.Start(proc.Command{
				Path: a.Path, Args: a.Args, Env: a.Env, CPUs: cpus, Stdin: socket, Unprivileged: l.recipe.Unprivileged,
			})
			if err != nil {
				socket.Close()
				return all, fmt.Errorf("application %s: %w", a.Name, err)
			}
			all = append(all, p)
		}
		socket.Close()
	}
	return all, nil
}

// apart says whether the i-th process of the applications is of one that is
// apart.
func (l *Local) apart(i int) bool {
	for _, a := range l.recipe.Apps {
		if i < a.processes() {
			return a.Apart
		}
		i -= a.processes()
	}
	return false
}

// listenUnix returns a blocking listening socket: programs accept on it without
// asking, and whether it blocks is a property that all of them share.
func listenUnix(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		err = unix.Listen(fd, appBacklog)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return f, nil
}
