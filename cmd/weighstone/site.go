package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/handlers/api"
	"github.com/weighstone/weighstone/handlers/gateway/cgi"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/handlers/status"
)

// assemble makes the handlers and the site of them. Files and programs of the
// user come before the built-in ones; the other routes are exact or longer
// prefixes, so nothing can take their place.
func (v *service) assemble() (err error) {
	c := v.cmd
	dir := c.Fixtures
	if dir == "" {
		dir = fixtures.DefaultDir()
	}
	if _, err := fixtures.Ensure(dir); err != nil {
		return err
	}
	roots := present(c.Root, dir)
	if v.files, err = static.New(static.Options{Roots: roots, MemoryLimit: c.Knobs.memoryLimit(), Log: v.log}); err != nil {
		return err
	}
	v.programs, err = cgi.New(cgi.Options{
		Dirs: present(c.CGIBin, builtinPrograms(v.log)), Root: roots[0], Timeout: c.CGITimeout, Log: v.log,
		Site: func() *weighstone.Site { return v.site },
	})
	if err != nil {
		return err
	}
	const reads = weighstone.GET | weighstone.HEAD
	v.site, err = weighstone.NewSite(int64(c.MaxBody), append(api.Routes(),
		weighstone.Route{Pattern: "/server-status", Methods: reads, Handler: status.New(v.report)},
		v.programs.Route(),
		weighstone.Route{Pattern: "/", Methods: reads, Handler: v.files},
	)...)
	return err
}

// report is what /server-status tells, of all processes together.
func (v *service) report() status.Report {
	return status.Report{
		Variant: v.variant.Name, PID: os.Getpid(), Workers: v.pictured,
		Started: v.board.Started(), Restarts: int(v.board.Restarts()), Stats: v.board.Sum(),
	}
}

// pictured are the workers as the status page draws them.
func (v *service) pictured() []status.Worker {
	var all []status.Worker
	for _, w := range v.board.Workers() {
		all = append(all, status.Worker(w))
	}
	return all
}

// cgiDirName is where the built-in CGI programs are, beside this program.
const cgiDirName = "cgi"

// builtinPrograms returns the directory of the CGI programs that are built
// beside this one, empty if there is none.
func builtinPrograms(log *slog.Logger) string {
	self, err := os.Executable()
	if err != nil {
		log.Warn("the built-in CGI programs are missing", "error", err)
		return ""
	}
	dir := filepath.Join(filepath.Dir(self), cgiDirName)
	if _, err := os.Stat(dir); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Warn("the built-in CGI programs are missing", "error", err)
		}
		return ""
	}
	return dir
}

// present returns the names that are not empty.
func present(names ...string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
