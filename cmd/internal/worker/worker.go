// Package worker is the program that each process of a process architecture
// runs: cmd/weighstone-worker, and the main program where it is started as one.
package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/status"
	"github.com/weighstone/weighstone/internal/accesslog"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/process"
)

// An Application is what a worker has to know beside what its master tells it:
// its first argument, as JSON.
type Application struct {
	Site      site.Config
	AccessLog accesslog.Options // without a name for none
	Main      string            // path of the main program, which has all that a worker may lack
}

// Argument renders the application for a worker's command line.
func (a *Application) Argument() (string, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("describe the site to workers: %w", err)
	}
	return string(b), nil
}

// An Engine makes the server that a worker runs.
type Engine func(weighstone.Options) weighstone.Server

// Parts makes the mechanisms that are linked into a worker beside those that
// every site has.
type Parts func(site.Config, *slog.Logger) ([]site.Part, error)

// errArguments tells who starts the program by hand what it is.
var errArguments = errors.New("a worker is started by weighstone serve and its process architectures, not by hand")

// Run is the life of a worker: args are the application and what the master
// says; engines and parts are those that are linked into this program.
func Run(args []string, engines map[string]Engine, parts Parts, stderr io.Writer) error {
	if len(args) != 2 {
		return errArguments
	}
	stderr = sys.Outlive(stderr)
	l := &life{argument: args[0], log: slog.New(slog.NewTextHandler(stderr, nil))}
	if err := json.Unmarshal([]byte(l.argument), &l.app); err != nil {
		return fmt.Errorf("read the application: %w", err)
	}
	var err error
	if l.worker, err = process.Inherit(args[1]); err != nil {
		return err
	}
	engine := engines[l.worker.Config.Engine]
	if engine == nil {
		return fmt.Errorf("this worker has no engine %q", l.worker.Config.Engine)
	}
	if err := l.assemble(parts); err != nil {
		return err
	}
	options := l.worker.Options(l.log, nil)
	options.Handover = l.handOver
	if l.app.AccessLog.Name != "" {
		if l.access, err = accesslog.Open(l.app.AccessLog, stderr, l.log); err != nil {
			return err
		}
		options.Access = l.access
	}
	err = l.worker.Run(engine(options), l.content.Site, l.reopen)
	if l.access != nil {
		err = errors.Join(err, l.access.Close())
	}
	return errors.Join(err, l.content.EndPrograms())
}

// A life is what a worker has while it runs.
type life struct {
	argument string // the application, as it came
	app      Application
	log      *slog.Logger
	worker   *process.Worker
	content  *site.Content
	access   *accesslog.Log // nil for none
}

// assemble makes the site.
func (l *life) assemble(parts Parts) error {
	w := l.worker
	l.app.Site.Crashed = w.Board.Crashed
	if len(w.Files) > 0 {
		l.app.Site.PostLog = w.Files[0]
	}
	mechanisms, err := parts(l.app.Site, l.log)
	if err != nil {
		return err
	}
	report := func() status.Report { return site.Report(w.Config.Variant, w.Config.Master, w.Board) }
	l.content, err = site.New(l.app.Site, report, l.log, mechanisms...)
	return err
}

// reopen opens the access log again, if there is one.
func (l *life) reopen() {
	if l.access == nil {
		return
	}
	if err := l.access.Reopen(); err != nil {
		l.log.Error(err.Error())
	}
}

// handOver makes this process the main program, which goes on with the
// connection. What the process has begun beside that, it ends first.
func (l *life) handOver(h weighstone.Handover) error {
	if err := unix.Access(l.app.Main, unix.X_OK); err != nil {
		return fmt.Errorf("execute %s: %w", l.app.Main, err)
	}
	if l.access != nil {
		l.access.Flush()
	}
	if err := l.content.EndPrograms(); err != nil {
		l.log.Warn(err.Error())
	}
	return l.worker.Become([]string{l.app.Main, "worker", l.argument}, h)
}
