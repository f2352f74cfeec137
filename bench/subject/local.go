package subject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/internal/proc"
)

// A Recipe says how a server program is started. It is plain data; a value can
// serve for many subjects.
type Recipe struct {
	Name string
	Path string // of the program
	// Args are the arguments for a port and, where there is a Config, the
	// name of the file it was written to.
	Args func(port int, config string) []string
	// Config is the text of the configuration for a port and a directory for
	// the server's own files; nil for servers without.
	Config func(port int, dir string) string
	// Announces is set for programs that print a line with "ready URL" on
	// stdout when they listen.
	Announces bool
	Version   string
	// StopSignal asks the program to end in good order; 0 means SIGTERM.
	StopSignal syscall.Signal
}

// A Local is a server started from a recipe as a process of its own.
type Local struct {
	recipe  Recipe
	options Options

	mu    sync.Mutex
	proc  *proc.Process // nil while stopped
	dir   string        // for configuration and the server's own files
	last  error         // how the last process ended
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

// facts are taken with port 0, so that they are the same for every start.
func (r Recipe) facts() []Fact {
	config := ""
	if r.Config != nil {
		config = "CONFIG"
	}
	facts := []Fact{
		{"version", r.Version},
		{"command", strings.Join(append([]string{r.Path}, r.Args(0, config)...), " ")},
	}
	if r.Config != nil {
		sum := sha256.Sum256([]byte(r.Config(0, "DIR")))
		facts = append(facts, Fact{"config_sha256", hex.EncodeToString(sum[:])})
	}
	return facts
}

// Name implements [Subject].
func (l *Local) Name() string { return l.recipe.Name }

// Facts implements [Subject].
func (l *Local) Facts() []Fact { return l.facts }

// startAttempts bounds how often a start is repeated on another port: between
// picking one and binding it somebody else may take it.
const startAttempts = 3

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
		if !strings.Contains(strings.ToLower(err.Error()), "address already in use") {
			break
		}
	}
	return "", fmt.Errorf("start %s: %w", l.recipe.Name, err)
}

func (l *Local) start(ctx context.Context) (base string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	config, err := l.configure(port)
	if err != nil {
		return "", err
	}
	p, err := l.options.Spawner.Start(proc.Command{
		Path: l.recipe.Path, Args: l.recipe.Args(port, config), CPUs: l.options.CPUs, StopSignal: l.recipe.StopSignal,
	})
	if err != nil {
		l.clean()
		return "", err
	}
	base = fmt.Sprintf("http://127.0.0.1:%d", port)
	if err = l.ready(ctx, p, base); err != nil {
		now, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if said := p.Tail(); p.Died() == nil && len(said) > 0 {
			err = fmt.Errorf("%w; the server's last lines were:\n\t%s", err, strings.Join(said, "\n\t"))
		}
		p.Stop(now)
		l.clean()
		return "", err
	}
	l.proc, l.last = p, nil
	return base, nil
}

// configure writes the configuration, if there is one, and returns its name.
func (l *Local) configure(port int) (name string, err error) {
	if l.recipe.Config == nil {
		return "", nil
	}
	if l.dir, err = os.MkdirTemp("", "weighstone-"+l.recipe.Name+"-"); err != nil {
		return "", fmt.Errorf("make a directory for the configuration: %w", err)
	}
	name = filepath.Join(l.dir, "config")
	if err := os.WriteFile(name, []byte(l.recipe.Config(port, l.dir)), 0o644); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return name, nil
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
		if died := p.Died(); died != nil && !errors.Is(err, died) {
			return fmt.Errorf("%w (%w)", died, err)
		}
		return err
	}
	return nil
}

// Usage implements [Subject].
func (l *Local) Usage() (proc.Usage, error) {
	l.mu.Lock()
	p := l.proc
	l.mu.Unlock()
	if p == nil {
		return proc.Usage{}, fmt.Errorf("%s is not running", l.recipe.Name)
	}
	return p.Usage()
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
	l.clean()
	if l.last != nil {
		return fmt.Errorf("stop %s: %w", l.recipe.Name, l.last)
	}
	return nil
}
