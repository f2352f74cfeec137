package upstream

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// Scripts are what an [Interpreter] runs.
type Scripts struct {
	Files map[string]string // single ones, by the path that leads to them
	// Prefix is below which the executable files of Dir are found whose
	// names end in Suffix; empty for none.
	Prefix, Dir, Suffix string
}

// An Interpreter answers by scripts that one program runs, which learns from
// SCRIPT_FILENAME which: php-cgi, say. Its workers are started when it is
// asked for first.
type Interpreter struct {
	opts    Options
	host    *gateway.Host
	command spawn.Command
	scripts Scripts
	dirs    gateway.Dirs
	spawner *spawn.Spawner

	mu     sync.RWMutex
	app    *app // nil until it is asked
	closed bool
}

// NewInterpreter makes a gateway to a command, whose first word is the
// absolute path of the program. Its owner closes it after the last exchange.
func NewInterpreter(o Options, s Scripts, command ...string) (*Interpreter, error) {
	g := &Interpreter{opts: o.filled(), scripts: s}
	g.host = gateway.NewHost(o.Protocol.String(), o.Log, o.Site)
	g.command = spawn.Command{Path: command[0], Args: command, Dir: "/", Env: workerEnvironment(o.Env)}
	var err error
	if s.Prefix != "" {
		if g.dirs, err = gateway.OpenDirs(s.Dir); err != nil {
			return nil, fmt.Errorf("make handler for %s: %w", command[0], err)
		}
	}
	if g.spawner, err = spawn.New(); err != nil {
		g.dirs.Close()
		return nil, fmt.Errorf("make handler for %s: %w", command[0], err)
	}
	return g, nil
}

// Routes returns the routes to put into a site.
func (g *Interpreter) Routes() []weighstone.Route {
	const takes = weighstone.GET | weighstone.HEAD | weighstone.POST
	var all []weighstone.Route
	for _, path := range slices.Sorted(maps.Keys(g.scripts.Files)) {
		all = append(all, route(path, takes, g))
	}
	if g.scripts.Prefix != "" {
		all = append(all, route(g.scripts.Prefix, takes, g))
	}
	return all
}

// Serve answers x by a script.
func (g *Interpreter) Serve(x *weighstone.Exchange) {
	script, status := g.find(string(x.In.Path))
	if status != 0 {
		g.host.RefuseProgram(x, gateway.Program{File: script.File, Name: script.Name}, status)
		return
	}
	a, err := g.start()
	if err != nil {
		g.host.Log.Error(err.Error())
		refuse(x, errDown)
		return
	}
	a.serve(x, script)
}

// Park parks x once the application is started.
func (g *Interpreter) Park(x *weighstone.Exchange, wake func()) weighstone.Parked {
	g.mu.RLock()
	a := g.app
	g.mu.RUnlock()
	if a == nil {
		return nil
	}
	script, status := g.find(string(x.In.Path))
	if status != 0 {
		return nil
	}
	return a.park(x, script, wake)
}

// find returns the script that a path leads to.
func (g *Interpreter) find(path string) (s cgi.Script, status int) {
	s = cgi.Script{Interface: cgi.Interface, Root: g.opts.Root, Name: path, File: g.scripts.Files[path]}
	if s.File != "" {
		return s, 0
	}
	prog, status := g.dirs.Find(path, g.scripts.Prefix)
	if status == 0 && !strings.HasSuffix(filepath.Base(prog.File), g.scripts.Suffix) {
		status = http.StatusNotFound
	}
	s.Name, s.File, s.Info = prog.Name, prog.File, prog.Info
	return s, status
}

// start returns the application, and starts its workers if they have not been.
func (g *Interpreter) start() (*app, error) {
	g.mu.RLock()
	a := g.app
	g.mu.RUnlock()
	if a != nil {
		return a, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.app != nil || g.closed {
		return g.app, closedError(g.closed)
	}
	var err error
	g.app, err = startWorkers(filepath.Base(g.command.Path), &g.opts, g.host, g.spawner, g.command)
	return g.app, err
}

func closedError(closed bool) error {
	if closed {
		return errClosed
	}
	return nil
}

// Close ends the workers. Requests that are at work fail.
func (g *Interpreter) Close() error {
	g.mu.Lock()
	g.closed = true
	a := g.app
	g.mu.Unlock()
	if a != nil {
		a.close()
	}
	g.dirs.Close()
	return g.spawner.Close()
}
