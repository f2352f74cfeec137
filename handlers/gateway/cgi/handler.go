// Package cgi answers exchanges by running a program for each (RFC 3875). It
// is a host of its own and not net/http/cgi, which runs without time limit,
// follows local redirects without end, waits for uploads nobody reads, and
// passes off the output of a killed program as complete.
//
// A program runs in its own directory and its own process group, with a clean
// environment, three descriptors and no arguments: words of the query are
// never passed as arguments (section 4.4 would), since interpreters take them
// for options (CVE-2012-1823). Non-parsed-header programs (section 5) are not
// supported; their output is a bad header here, answered 500.
package cgi

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// Options say which programs a Handler runs, and within which bounds.
type Options struct {
	// Dirs are where programs lie, searched in this order.
	Dirs []string
	// Scripts are single programs, by the path that leads to them; with an
	// Interpreter, the absolute path of a program, that is run in place of
	// each and learns from SCRIPT_FILENAME what it is to run.
	Scripts     map[string]string
	Interpreter string
	// Starter starts the programs, and is closed with the Handler; nil for
	// this process itself.
	Starter Starter
	// Prefix is the path below which they are found; empty means /cgi-bin/.
	Prefix string
	// Root is DOCUMENT_ROOT, and with the path behind a program's name
	// PATH_TRANSLATED; empty for neither.
	Root string
	// Env are further variables, NAME=value. PATH is the server's own unless
	// it is among them.
	Env []string
	// Timeout bounds a program's life from its start, and the wait for the
	// right to start; 0 means 30 s. A program that has closed its output may
	// use up the rest of the time in the background.
	Timeout time.Duration
	// MaxProcesses bounds the programs that run at a time; 0 means 64.
	MaxProcesses int
	// Log receives what programs write to standard error, and their faults;
	// nil discards both.
	Log *slog.Logger
	// Site returns the site that answers local redirects, usually the one
	// that holds this handler; nil answers them with 500.
	Site func() *weighstone.Site
}

// A Starter starts programs: a [spawn.Spawner], or a client of the helper that
// does so in its place.
type Starter interface {
	Start(*spawn.Command) (*spawn.Process, error)
	// Close ends the programs that still run.
	Close() error
}

// A Handler runs programs. It serves a route that waits and streams bodies;
// see [Handler.Route].
type Handler struct {
	opts     Options
	host     *gateway.Host
	dirs     gateway.Dirs
	complain bool
	env      []string
	starter  Starter
	slots    chan struct{} // a value for each program that runs
}

// New makes a Handler. Its owner closes it after the last exchange. It fails
// when a directory can't be opened.
func New(o Options) (*Handler, error) {
	if o.Prefix == "" {
		o.Prefix = "/cgi-bin/"
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxProcesses <= 0 {
		o.MaxProcesses = 64
	}
	h := &Handler{
		opts: o, host: gateway.NewHost("CGI", o.Log, o.Site), complain: o.Log != nil,
		env: environment(o.Env), slots: make(chan struct{}, o.MaxProcesses), starter: o.Starter,
	}
	var err error
	if h.dirs, err = gateway.OpenDirs(o.Dirs...); err != nil {
		return nil, fmt.Errorf("make CGI handler: %w", err)
	}
	if h.starter != nil {
		return h, nil
	}
	if h.starter, err = spawn.New(); err != nil {
		h.dirs.Close()
		return nil, fmt.Errorf("make CGI handler: %w", err)
	}
	return h, nil
}

// environment returns the variables that every program gets.
func environment(more []string) []string {
	for _, v := range more {
		if strings.HasPrefix(v, "PATH=") {
			return more
		}
	}
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	return append([]string{"PATH=" + path}, more...)
}

// Routes returns the routes to put into a site: that of the prefix, if there
// are directories or no scripts, and those of the scripts.
func (h *Handler) Routes() []weighstone.Route {
	var all []weighstone.Route
	if len(h.opts.Dirs) > 0 || len(h.opts.Scripts) == 0 {
		all = append(all, h.route(h.opts.Prefix))
	}
	for _, path := range slices.Sorted(maps.Keys(h.opts.Scripts)) {
		all = append(all, h.route(path))
	}
	return all
}

func (h *Handler) route(pattern string) weighstone.Route {
	return weighstone.Route{
		Pattern: pattern,
		Methods: weighstone.GET | weighstone.HEAD | weighstone.POST,
		Body:    weighstone.BodyStreamed,
		Waits:   true,
		Handler: h,
	}
}

// Close kills the programs that still run and frees what the Handler holds.
func (h *Handler) Close() error {
	h.dirs.Close()
	return h.starter.Close()
}
