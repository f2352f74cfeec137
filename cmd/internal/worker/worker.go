// Package worker is the program that each process of a process architecture
// runs: cmd/weighstone-worker, and the main program where it is started as one.
package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/status"
	"github.com/weighstone/weighstone/internal/accesslog"
	"github.com/weighstone/weighstone/servers/process"
)

// An Application is what a worker has to know beside what its master tells it:
// its first argument, as JSON.
type Application struct {
	Site      site.Config
	AccessLog accesslog.Options // without a name for none
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
	var app Application
	if err := json.Unmarshal([]byte(args[0]), &app); err != nil {
		return fmt.Errorf("read the application: %w", err)
	}
	w, err := process.Inherit(args[1])
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	engine := engines[w.Config.Engine]
	if engine == nil {
		return fmt.Errorf("this worker has no engine %q", w.Config.Engine)
	}
	report := func() status.Report { return site.Report(w.Config.Variant, w.Config.Master, w.Board) }
	if len(w.Files) > 0 {
		app.Site.PostLog = w.Files[0]
	}
	mechanisms, err := parts(app.Site, log)
	if err != nil {
		return err
	}
	content, err := site.New(app.Site, report, log, mechanisms...)
	if err != nil {
		return err
	}
	var access *accesslog.Log
	options := w.Options(log, nil)
	reopen := func() {}
	if app.AccessLog.Name != "" {
		if access, err = accesslog.Open(app.AccessLog, stderr, log); err != nil {
			return err
		}
		options.Access = access
		reopen = func() {
			if err := access.Reopen(); err != nil {
				log.Error(err.Error())
			}
		}
	}
	err = w.Run(engine(options), content.Site, reopen)
	if access != nil {
		err = errors.Join(err, access.Close())
	}
	return errors.Join(err, content.EndPrograms())
}
