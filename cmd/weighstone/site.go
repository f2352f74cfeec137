package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/weighstone/weighstone/cgi/keeper"
	"github.com/weighstone/weighstone/cmd/internal/inside"
	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/handlers/status"
	"github.com/weighstone/weighstone/handlers/store"
	"github.com/weighstone/weighstone/servers"
)

// assemble makes the site of what the command line asks for. The master of
// processes assembles none: each worker has its own.
func (v *service) assemble() (err error) {
	c := v.cmd
	dir := c.Fixtures
	if dir == "" {
		dir = fixtures.DefaultDir()
	}
	if _, err := fixtures.Ensure(dir); err != nil {
		return err
	}
	v.about = site.Config{
		Fixtures: dir, Root: c.Root, CGIBin: c.CGIBin, Programs: builtin("cgi", v.log), Apps: c.Apps.apps(v.log),
		CGITimeout: c.CGITimeout, MaxBody: int64(c.MaxBody), Ballast: int64(c.Ballast),
		Inside: c.Inside.config(), Override: c.Knobs.OverrideFiles,
		MemoryTotal: int64(c.FileMemory), Specweb: c.Specweb.config(), PostLog: v.posts,
		Crashed: v.board.Crashed,
	}
	if db := c.Inside.DB; db != "" {
		if err := store.Check(db); err != nil {
			return err
		}
	}
	v.keepHelper()
	if err := v.about.Apps.Interpreters.Find(); err != nil {
		return err
	}
	v.about.Memory, v.about.Descriptors = c.Knobs.fileCache()
	if v.about.Memory == 0 {
		v.about.Memory = int64(c.FileMemoryMax)
	}
	if v.variant.Family == servers.Process {
		v.about.Apps.Workers = 1 // of each process, which serves one connection at a time
		return nil
	}
	parts, err := inside.Parts(v.about, v.log)
	if err != nil {
		return err
	}
	v.content, err = site.New(v.about, v.report, v.log, parts...)
	return err
}

// keepHelper has the CGI helper run when it is first asked for: one for all
// processes of the server, which it must not outlive.
func (v *service) keepHelper() {
	path, err := beside(site.HelperName)
	if errors.Is(err, errNotBeside) {
		return
	}
	if err == nil {
		v.helper, err = keeper.New(path, v.log)
	}
	if err != nil {
		v.log.Warn("the helper can't be used", "error", err)
		return
	}
	v.about.Helper = v.helper.Address()
}

// report is what /server-status tells, of all processes together.
func (v *service) report() status.Report {
	r := site.Report(v.variant.Name, os.Getpid(), v.board)
	r.Fault = v.about.Specweb.Fault.String()
	return r
}

// builtin returns a directory of programs that are built beside this one,
// empty if there is none.
func builtin(name string, log *slog.Logger) string {
	self, err := os.Executable()
	if err != nil {
		log.Warn("the built-in programs are missing", "error", err)
		return ""
	}
	dir := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(dir); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Warn("the built-in programs are missing", "error", err)
		}
		return ""
	}
	return dir
}
