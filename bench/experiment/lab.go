package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/internal/proc"
	"github.com/weighstone/weighstone/internal/sys"
)

// A lab is what one run of an experiment has at its disposal. It is made at
// the run's start and closed at its end, with every process it started.
type lab struct {
	Options
	spawner  *proc.Spawner
	manifest *fixtures.Manifest
	noFile   int           // descriptors that a process may have open
	patience time.Duration // for a reply

	serverCPUs, clientCPUs []int

	temp    string // for files that a design makes; removed at the end
	started map[subject.Subject]string
	// countless are the servers that do not tell of their event loops.
	countless map[subject.Subject]bool
	firsts    map[*cell]first // of the servers that run
	facts     map[string]string
	unequal   map[string][]string // what could not be made the same, by subject
	known     map[string]known    // by content
	real      bool                // there are servers that are not ours
	wires     map[wireKey]*wires
}

// known is what has been proved of a content.
type known struct {
	by  string
	len int
	sum [sha256.Size]byte
}

func newLab(o Options) (*lab, error) {
	l := &lab{Options: o, patience: replyTimeout, started: map[subject.Subject]string{}, firsts: map[*cell]first{}, countless: map[subject.Subject]bool{}, facts: map[string]string{}, known: map[string]known{}, unequal: map[string][]string{}, wires: map[wireKey]*wires{}}
	limit, err := sys.RaiseNoFile()
	if err != nil {
		return nil, err
	}
	l.noFile = int(min(limit, 1<<20))
	if l.manifest, err = fixtures.Ensure(o.Fixtures); err != nil {
		return nil, err
	}
	if l.temp, err = os.MkdirTemp("", "weighstone-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory for the run: %w", err)
	}
	// The servers, which may run as another user, read from below it.
	if err := os.Chmod(l.temp, 0o755); err != nil {
		return nil, fmt.Errorf("make a directory for the run: %w", err)
	}
	l.serverCPUs, l.clientCPUs = split(proc.CPUs())
	l.facts["server_cores"] = fmt.Sprint(l.serverCPUs)
	l.facts["client_cores"] = fmt.Sprint(l.clientCPUs)
	l.facts["descriptor_limit"] = fmt.Sprint(l.noFile)
	l.facts["network"] = "loopback"
	l.facts["date"] = time.Now().UTC().Format(time.DateOnly)
	l.facts["seed"] = fmt.Sprint(o.Seed)
	l.spawner = proc.NewSpawner()
	return l, nil
}

// split gives the server the first core and the client the second. With one
// core both share it, and every figure says so.
func split(cpus []int) (server, client []int) {
	if len(cpus) < 2 {
		return cpus, cpus
	}
	return cpus[:1], cpus[1:2]
}

func (l *lab) close() {
	l.spawner.Close()
	os.RemoveAll(l.temp)
}

// stopGrace is how long a server may take to end. Ours give idle connections
// a second to finish what they have begun; on a machine with much else to do
// that has taken more than five.
const stopGrace = 30 * time.Second

// up returns the base URL of a subject, starting it if it does not run.
func (l *lab) up(ctx context.Context, s subject.Subject) (string, error) {
	if base, ok := l.started[s]; ok {
		return base, nil
	}
	ready, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	base, err := s.Start(ready)
	if err != nil {
		return "", err
	}
	l.started[s] = base
	return base, nil
}

// down stops what runs, all at once: a slow one must not use up the grace of
// the others. One that did not end well is an error: what it has measured
// before is in doubt.
func (l *lab) down() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	ended := make(chan error)
	for s := range l.started {
		go func() { ended <- s.Stop(ctx) }()
	}
	var errs []error
	for range l.started {
		errs = append(errs, <-ended)
	}
	clear(l.started)
	clear(l.firsts)
	return errors.Join(errs...)
}

// note keeps the facts of a subject for the document.
func (l *lab) note(s subject.Subject) subject.Subject {
	for _, f := range s.Facts() {
		name := s.Name() + "." + f.Name
		// A server may be there several times, set up for different work.
		if before := l.facts[name]; before == "" {
			l.facts[name] = f.Value
		} else if !slices.Contains(strings.Split(before, "; "), f.Value) {
			l.facts[name] = before + "; " + f.Value
		}
	}
	l.real = l.real || isReal(s)
	for _, sentence := range s.Unequal() {
		if !slices.Contains(l.unequal[s.Name()], sentence) {
			l.unequal[s.Name()] = append(l.unequal[s.Name()], sentence)
		}
	}
	return s
}

// prove checks that what base answers for a cell's proofs is what every other
// cell with the same content answered, and what the manifest says.
func (l *lab) prove(ctx context.Context, c *cell, base string) error {
	for _, p := range c.proofs {
		limited, cancel := context.WithTimeout(ctx, 2*l.patience)
		body, err := subject.Fetch(limited, base, p.path)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w%s", c.name, err, said(c.subject))
		}
		sum := sha256.Sum256(body)
		if f, ok := l.manifest.Find(p.content); ok && f.SHA256 != hex.EncodeToString(sum[:]) {
			return fmt.Errorf("%s: %s%s has %d bytes with SHA-256 %x, expected %d with %s%s", c.name, base, p.path, len(body), sum, f.Size, f.SHA256, wrongAdvice)
		}
		first, ok := l.known[p.content]
		if !ok {
			l.known[p.content] = known{c.name, len(body), sum}
		} else if first.sum != sum {
			return fmt.Errorf("%s: %s%s has %d bytes with SHA-256 %x, but %s answered %d bytes with %x: they do not do the same work%s",
				c.name, base, p.path, len(body), sum, first.by, first.len, first.sum, wrongAdvice)
		}
		if err := l.proveWire(ctx, c, base, p); err != nil {
			return err
		}
	}
	return nil
}

// hundred is the file of 100 bytes.
const hundred = "/100.html"

// probe is the request by which a subject shows that it is ready.
func (l *lab) probe() (subject.Probe, error) {
	body, err := os.ReadFile(filepath.Join(l.Fixtures, hundred))
	if err != nil {
		return subject.Probe{}, fmt.Errorf("read the fixtures: %w", err)
	}
	return subject.Probe{Path: hundred, Body: bytes.Clone(body)}, nil
}

// local makes a subject of a recipe, pinned to the servers' cores.
func (l *lab) local(r subject.Recipe) (subject.Subject, error) { return l.localOn(r, l.serverCPUs) }

// localOn pins it to other cores.
func (l *lab) localOn(r subject.Recipe, cores []int) (subject.Subject, error) {
	probe, err := l.probe()
	if err != nil {
		return nil, err
	}
	return l.note(subject.New(r, subject.Options{Spawner: l.spawner, CPUs: cores, AppCPUs: l.clientCPUs, Probe: probe})), nil
}

// variant makes a subject of one of our servers.
func (l *lab) variant(name string, flags ...string) (subject.Subject, error) {
	return l.local(subject.Weighstone(l.Binary, name, append([]string{"--fixtures", l.Fixtures}, flags...)...))
}

// found returns the recipes of real servers for a setup, and in sentences which
// of them are not here or can't do it.
func found(s subject.Setup, names ...string) (recipes []subject.Recipe, remarks []string, err error) {
	for _, name := range names {
		peer, err := subject.FindPeer(name)
		if err != nil {
			return nil, nil, err
		}
		r, err := peer.Find(s)
		switch {
		case errors.Is(err, subject.ErrMissing) || errors.Is(err, subject.ErrUnable):
			remarks = append(remarks, name+" was left out: "+err.Error())
		case err != nil:
			return nil, nil, err
		default:
			recipes = append(recipes, r)
		}
	}
	return recipes, remarks, nil
}

// remotes makes the subjects that run already.
func (l *lab) remotes() ([]subject.Subject, error) {
	var all []subject.Subject
	for _, r := range l.Subjects {
		s, err := l.remote(r)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// remote makes a subject of a server that runs already.
func (l *lab) remote(r Remote) (subject.Subject, error) {
	probe, err := l.probe()
	if err != nil {
		return nil, err
	}
	s, err := subject.NewRemote(r.Name, r.URL, probe)
	if err != nil {
		return nil, err
	}
	return l.note(s), nil
}

// ours makes subjects of the user's variants, else the given ones, and of the
// servers that run already.
func (l *lab) ours(standard ...string) ([]subject.Subject, error) {
	var all []subject.Subject
	for _, name := range l.variants(standard...) {
		s, err := l.variant(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	remotes, err := l.remotes()
	return append(all, remotes...), err
}

// runnable are the variants that can run here; d remarks on the others.
func (l *lab) runnable(d *design, names ...string) (all []subject.Subject, err error) {
	for _, name := range names {
		if reason := l.Refused[name]; reason != "" {
			d.remark(reason)
			continue
		}
		s, err := l.variant(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// refuseRemotes refuses servers that run already: what they use is not known,
// and it is what the experiment is about.
func (l *lab) refuseRemotes() error {
	if len(l.Subjects) > 0 {
		return fmt.Errorf("%w: the CPU use of %s can't be measured, as it is not started here", ErrMisuse, l.Subjects[0].Name)
	}
	return nil
}

// floorProgram returns the path of one of the programs of bench/floor.
func (l *lab) floorProgram(name string) (string, error) {
	path := filepath.Join(l.FloorDir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the program %s of bench/floor is not built (make floors builds it): %w", name, err)
	}
	return path, nil
}

// file says what the manifest knows of the file at a path.
func (l *lab) file(path string) (size int64, sum [sha256.Size]byte, ok bool) {
	f, ok := l.manifest.Find(path)
	if !ok {
		return 0, sum, false
	}
	if n, err := hex.Decode(sum[:], []byte(f.SHA256)); err != nil || n != len(sum) {
		return 0, sum, false
	}
	return f.Size, sum, true
}

// scaled returns the repetitions and lengths of runs: full, or for a quick
// look.
func (l *lab) scaled(runs, quickRuns int, duration, quickDuration time.Duration) (n int, length time.Duration) {
	n, length = runs, duration
	if l.Quick {
		n, length = quickRuns, quickDuration
	}
	if l.Tiny {
		n, length = 1, min(quickDuration, 500*time.Millisecond)
	}
	if l.Runs > 0 {
		n = l.Runs
	}
	return n, length
}
