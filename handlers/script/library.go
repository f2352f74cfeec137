package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// checkEvery is how long a program is taken to be unchanged.
const checkEvery = time.Second

// A Library holds the compiled programs of a mechanism. A program is compiled
// when it is first asked for, and again when its file has changed. Those of
// the user come before the built-in ones. It serves many goroutines.
type Library[T any] struct {
	kind    string // what its programs are, for the log
	builtin fs.FS
	dir     *os.Root // nil without one
	suffix  string
	compile func(name string, source []byte) (T, error)
	now     func() time.Time

	programs sync.Map // name to *program[T]
	mu       sync.Mutex
}

// A program is one version of a program.
type program[T any] struct {
	value   T
	err     error // why it can't run
	builtin bool
	size    int64
	changed time.Time
	checked atomic.Int64 // when it was last found unchanged, in nanoseconds since 1970
}

// NewLibrary makes a library of the programs in builtin, which are called
// NAME and suffix, and of those in dir, unless dir is empty. The kind is what
// the log calls one of them.
func NewLibrary[T any](kind string, builtin fs.FS, dir, suffix string, compile func(name string, source []byte) (T, error)) (*Library[T], error) {
	l := &Library[T]{kind: kind, builtin: builtin, suffix: suffix, compile: compile, now: time.Now}
	if dir != "" {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("open programs: %w", err)
		}
		l.dir = root
	}
	return l, nil
}

// Close gives back the directory.
func (l *Library[T]) Close() error {
	if l.dir == nil {
		return nil
	}
	return l.dir.Close()
}

// Find returns the program of a name. The error is fs.ErrNotExist when there
// is none, else why it can't run.
func (l *Library[T]) Find(name string) (T, error) {
	if known, ok := l.programs.Load(name); ok {
		p := known.(*program[T])
		now, last := l.now().UnixNano(), p.checked.Load()
		if now-last < int64(checkEvery) || !p.checked.CompareAndSwap(last, now) || l.unchanged(name, p) {
			return p.value, p.err
		}
	}
	return l.load(name)
}

// unchanged says whether p still is what is found under name.
func (l *Library[T]) unchanged(name string, p *program[T]) bool {
	if l.dir == nil {
		return true
	}
	info, err := l.dir.Stat(name + l.suffix)
	if err != nil || !info.Mode().IsRegular() {
		return p.builtin
	}
	return !p.builtin && info.Size() == p.size && info.ModTime().Equal(p.changed)
}

// load reads and compiles a program. What does not exist is not remembered,
// since names come from clients.
func (l *Library[T]) load(name string) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.programs.Load(name); ok && l.unchanged(name, known.(*program[T])) {
		p := known.(*program[T]) // somebody was faster
		return p.value, p.err
	}
	p, source, err := l.read(name)
	if err != nil {
		l.programs.Delete(name)
		var none T
		return none, err
	}
	p.value, p.err = l.compile(name+l.suffix, source)
	p.checked.Store(l.now().UnixNano())
	l.programs.Store(name, p)
	return p.value, p.err
}

// read returns what is found under name.
func (l *Library[T]) read(name string) (*program[T], []byte, error) {
	if !plain(name) {
		return nil, nil, fs.ErrNotExist
	}
	if l.dir != nil {
		info, err := l.dir.Stat(name + l.suffix)
		if err == nil && info.Mode().IsRegular() {
			source, err := l.dir.ReadFile(name + l.suffix)
			return &program[T]{size: info.Size(), changed: info.ModTime()}, source, err
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	source, err := fs.ReadFile(l.builtin, name+l.suffix)
	return &program[T]{builtin: true}, source, err
}

// plain says whether name is one that a program may have: letters, digits,
// hyphens, underscores, and dots within.
func plain(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' {
		return false
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.", c) >= 0) {
			return false
		}
	}
	return true
}

// Split divides a path below prefix into the name of a program and what
// follows it, which is empty or begins with a slash.
func Split(path []byte, prefix string) (name, info string) {
	below := string(path[len(prefix):])
	if i := strings.IndexByte(below, '/'); i >= 0 {
		return below[:i], below[i:]
	}
	return below, ""
}
