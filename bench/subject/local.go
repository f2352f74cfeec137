package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weighstone/weighstone/internal/proc"
)

// A Local is a server started from a recipe as a process of its own.
type Local struct {
	recipe  Recipe
	options Options

	mu    sync.Mutex
	proc  *proc.Process // nil while stopped
	apps  []*proc.Process
	dir   string // for configuration and the server's own files
	last  error  // how the last process ended
	facts []Fact
}

// New makes a subject of a recipe.
func New(r Recipe, o Options) *Local {
	return &Local{recipe: r, options: o, facts: r.facts()}
}

// Twin returns a second subject of the same recipe and options under another
// name, for comparing a server with itself.
func (l *Local) Twin(name string) *Local {
	r := l.recipe
	r.Name = name
	return New(r, l.options)
}

// Name implements [Subject].
func (l *Local) Name() string { return l.recipe.Name }

// Facts implements [Subject].
func (l *Local) Facts() []Fact { return l.facts }

// Counted says whether its CPU use can be known.
func (l *Local) Counted() bool { return !l.recipe.Uncounted }

// Real says whether it is a server of somebody else's making.
func (l *Local) Real() bool { return l.recipe.Source != "" }

// Unequal implements [Subject].
func (l *Local) Unequal() []string { return l.recipe.Unequal }

// startAttempts bounds how often a start is repeated on another port: between
// picking one and binding it somebody else may take it.
const startAttempts = 3

// ErrPortInUse says that a server did not get its port.
var ErrPortInUse = errors.New("the port is in use")

// Start implements [Subject].
func (l *Local) Start(ctx context.Context) (base string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc != nil {
		return "", fmt.Errorf("start %s: it runs already", l.recipe.Name)
	}
	for range startAttempts {
		base, err = l.start(ctx)
		if err == nil {
			return base, nil
		}
		if !portTaken(err) {
			return "", fmt.Errorf("start %s: %w", l.recipe.Name, err)
		}
	}
	return "", fmt.Errorf("start %s: %w (tried %d that were free a moment before): %w\n"+
		"to do: see with \"ss -ltnp\" who listens, end it, and run again", l.recipe.Name, ErrPortInUse, startAttempts, err)
}

// portTaken says whether a server complains of its port, in whatever case.
func portTaken(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

func (l *Local) start(ctx context.Context) (base string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			l.end()
		}
	}()
	config, err := l.configure(port)
	if err != nil {
		return "", err
	}
	if l.apps, err = l.startApps(l.dir); err != nil {
		return "", err
	}
	command := proc.Command{
		Path: l.recipe.Path, Args: l.recipe.Args(port, config), CPUs: l.options.CPUs,
		StopSignal: l.recipe.StopSignal, Unprivileged: l.recipe.Unprivileged,
	}
	if l.recipe.Env != nil {
		command.Env = l.recipe.Env(l.dir)
	}
	p, err := l.options.Spawner.Start(command)
	if err != nil {
		return "", err
	}
	base = fmt.Sprintf("http://127.0.0.1:%d", port)
	if err = l.ready(ctx, p, base); err != nil {
		now, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		died := p.Died()
		if said := p.Tail(); died == nil && len(said) > 0 {
			err = fmt.Errorf("%w; the server's last lines were:\n\t%s", err, strings.Join(said, "\n\t"))
		}
		if died != nil && l.recipe.Source != "" && !portTaken(err) {
			err = fmt.Errorf("%w\nto do: if it refuses its configuration, which is for the version of Debian 12, compare that with this one, %s; "+
				"if something of it is missing, install %s again", err, l.recipe.Version, l.recipe.Source)
		}
		p.Stop(now)
		return "", err
	}
	l.proc, l.last = p, nil
	return base, nil
}

// configure makes the directory of the server's own files with what is in it,
// if it has one, and returns the name of the configuration.
func (l *Local) configure(port int) (name string, err error) {
	if l.recipe.Config == nil {
		return "", nil
	}
	// Not with the subject's name, which may have blanks: some configurations
	// end a path there, and Yaws then ends without saying so.
	if l.dir, err = os.MkdirTemp("", "weighstone-server-"); err != nil {
		return "", fmt.Errorf("make a directory for the configuration: %w", err)
	}
	name = filepath.Join(l.dir, "config")
	if err := os.WriteFile(name, []byte(l.recipe.Config(port, l.dir)), 0o644); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	if l.recipe.Prepare != nil {
		if err := l.recipe.Prepare(port, l.dir); err != nil {
			return "", fmt.Errorf("prepare the server's files: %w", err)
		}
	}
	return name, nil
}

// end ends the applications, at once and without a grace: nobody asks them any
// more. It removes the server's own files.
func (l *Local) end() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	for _, a := range l.apps {
		a.Stop(now)
	}
	l.apps = nil
	l.clean()
}

func (l *Local) clean() {
	if l.dir != "" {
		os.RemoveAll(l.dir)
		l.dir = ""
	}
}

// ready waits for the announcement and for the right answer to the probe.
func (l *Local) ready(ctx context.Context, p *proc.Process, base string) error {
	if l.recipe.Announces {
		line, err := p.Line(ctx)
		if err != nil {
			return err
		}
		if !strings.Contains(line, " ready "+base+" pid ") {
			return fmt.Errorf("it said %q, expected a line with \"ready %s pid\"", line, base)
		}
	}
	if err := l.options.Probe.until(ctx, base, p.Died); err != nil {
		if died := p.Died(); died != nil && !strings.Contains(err.Error(), died.Error()) {
			return fmt.Errorf("%w (%w)", died, err)
		}
		return err
	}
	return nil
}

// Usage implements [Subject].
func (l *Local) Usage() (proc.Usage, error) {
	l.mu.Lock()
	p, apps := l.proc, l.apps
	l.mu.Unlock()
	if p == nil {
		return proc.Usage{}, fmt.Errorf("%s is not running", l.recipe.Name)
	}
	if l.recipe.Uncounted {
		return proc.Usage{}, ErrUncounted
	}
	sum, err := p.Usage()
	for i, a := range apps {
		if l.apart(i) {
			continue
		}
		u, aerr := a.Usage()
		sum.Add(u)
		err = errors.Join(err, aerr)
	}
	return sum, err
}

// Pid implements [Subject].
func (l *Local) Pid() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc == nil {
		return 0, fmt.Errorf("%s is not running", l.recipe.Name)
	}
	return l.proc.Pid(), nil
}

// Said implements [Subject].
func (l *Local) Said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc == nil {
		return nil
	}
	return l.proc.Tail()
}

// Died implements [Subject].
func (l *Local) Died() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc == nil {
		return l.last
	}
	for _, a := range l.apps {
		if err := a.Died(); err != nil {
			return fmt.Errorf("an application of %s: %w", l.recipe.Name, err)
		}
	}
	return l.proc.Died()
}

// Stop implements [Subject]. Stopping twice does nothing.
func (l *Local) Stop(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc == nil {
		return nil
	}
	l.last = l.proc.Stop(ctx)
	l.proc = nil
	l.end()
	if l.last != nil {
		return fmt.Errorf("stop %s: %w", l.recipe.Name, l.last)
	}
	return nil
}
