package upstream

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// Programs answers by the programs of some directories, each of which gets
// workers of its own when it is asked for first. A program finds its listening
// socket as standard input (FastCGI specification, section 2.2); its output
// goes nowhere, its standard error to the log, and SIGTERM asks it to end.
type Programs struct {
	prefix  string
	opts    Options
	host    *gateway.Host
	dirs    gateway.Dirs
	env     []string
	spawner *spawn.Spawner

	mu     sync.RWMutex
	apps   map[string]*app   // by file
	known  map[string]target // by path, where no PATH_INFO is in it
	closed bool
}

// A target is what a path leads to.
type target struct {
	app    *app
	script cgi.Script
}

// NewPrograms makes a gateway to the programs of dirs, found below prefix. Its
// owner closes it after the last exchange.
func NewPrograms(o Options, prefix string, dirs ...string) (*Programs, error) {
	g := &Programs{prefix: prefix, opts: o.filled(), apps: map[string]*app{}, known: map[string]target{}}
	g.host = gateway.NewHost(o.Protocol.String(), o.Log, o.Site)
	g.env = workerEnvironment(o.Env)
	var err error
	if g.dirs, err = gateway.OpenDirs(dirs...); err != nil {
		return nil, fmt.Errorf("make %v handler: %w", o.Protocol, err)
	}
	if g.spawner, err = spawn.New(); err != nil {
		g.dirs.Close()
		return nil, fmt.Errorf("make %v handler: %w", o.Protocol, err)
	}
	return g, nil
}

// workerEnvironment returns the environment of workers.
func workerEnvironment(more []string) []string {
	for _, v := range more {
		if strings.HasPrefix(v, "PATH=") {
			return more
		}
	}
	return append([]string{"PATH=" + os.Getenv("PATH")}, more...)
}

// Routes returns the routes to put into a site.
func (g *Programs) Routes() []weighstone.Route {
	return []weighstone.Route{route(g.prefix, weighstone.GET|weighstone.HEAD|weighstone.POST, g)}
}

// Serve answers x by a program.
func (g *Programs) Serve(x *weighstone.Exchange) {
	g.mu.RLock()
	t, ok := g.known[string(x.In.Path)]
	g.mu.RUnlock()
	if !ok {
		prog, status := g.dirs.Find(string(x.In.Path), g.prefix)
		if status != 0 {
			g.host.RefuseProgram(x, prog, status)
			return
		}
		var err error
		if t, err = g.target(prog); err != nil {
			g.host.Log.Error(err.Error())
			refuse(x, errDown)
			return
		}
	}
	t.app.serve(x, t.script)
}

// Park parks x where the program is known and its workers are started.
func (g *Programs) Park(x *weighstone.Exchange, wake func()) weighstone.Parked {
	g.mu.RLock()
	t, ok := g.known[string(x.In.Path)]
	g.mu.RUnlock()
	if !ok {
		return nil
	}
	return t.app.park(x, t.script, wake)
}

// target returns what a program is asked by, and starts its workers if they
// have not been.
func (g *Programs) target(prog gateway.Program) (target, error) {
	t := target{script: cgi.Script{
		Interface: cgi.Interface, Name: prog.Name, File: prog.File, Info: prog.Info, Root: g.opts.Root,
	}}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.app = g.apps[prog.File]; t.app == nil {
		if g.closed {
			return t, errClosed
		}
		var err error
		t.app, err = startWorkers(prog.Name, &g.opts, g.host, g.spawner, spawn.Command{
			Path: prog.File, Dir: filepath.Dir(prog.File), Env: g.env,
		})
		if err != nil {
			return t, err
		}
		g.apps[prog.File] = t.app
	}
	if prog.Info == "" {
		g.known[prog.Name] = t
	}
	return t, nil
}

// Close ends the workers. Requests that are at work fail.
func (g *Programs) Close() error {
	g.mu.Lock()
	g.closed = true
	apps := slices.Collect(maps.Values(g.apps))
	g.mu.Unlock()
	closeApps(apps)
	g.dirs.Close()
	return g.spawner.Close()
}

// closeApps closes applications side by side.
func closeApps(apps []*app) {
	var all sync.WaitGroup
	for _, a := range apps {
		all.Go(a.close)
	}
	all.Wait()
}
