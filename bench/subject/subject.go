package subject

import (
	"context"
	"errors"

	"github.com/weighstone/weighstone/internal/proc"
)

// A Subject is a server under test, ours or anyone's. Whoever made it starts
// and stops it; it can be started again after a stop.
type Subject interface {
	// Name is how reports call it.
	Name() string
	// Start brings it up and returns its base URL, "http://127.0.0.1:8080",
	// once it answers the probe with the right bytes. It fails when ctx ends
	// first, when the server ends, and when it answers something else.
	Start(ctx context.Context) (base string, err error)
	// Usage returns what the server and its children have used since its
	// start. [ErrNotHere] is the answer for one that runs elsewhere, and
	// [ErrUncounted] for one that loses what its programs use.
	Usage() (proc.Usage, error)
	// Pid returns the id of the server's first process. [ErrNotHere] is the
	// answer for one that runs elsewhere.
	Pid() (int, error)
	// Said returns the server's last lines on stderr, nil when nobody knows.
	Said() []string
	// Died returns how the server ended, with its last lines on stderr, and
	// nil while it runs.
	Died() error
	// Stop ends it; what still runs when ctx ends is killed.
	Stop(ctx context.Context) error
	// Facts are what must stand beside every result: version, command,
	// digest of the configuration.
	Facts() []Fact
	// Unequal are sentences about what could not be made the same as for the
	// other subjects.
	Unequal() []string
}

// A Fact is one thing to know about a subject.
type Fact struct{ Name, Value string }

// ErrNotHere says that a subject is not a process of this machine that could
// be measured.
var ErrNotHere = errors.New("the subject was not started here: its CPU use is not known")

// ErrUncounted says that the CPU time of a subject's programs is lost.
var ErrUncounted = errors.New("the subject does not wait for the programs it starts: their CPU use is not known")

// Unknown says whether an error of [Subject.Usage] is only that nobody can know.
func Unknown(err error) bool { return errors.Is(err, ErrNotHere) || errors.Is(err, ErrUncounted) }

// A Probe is the request that shows that a subject is ready.
type Probe struct {
	Path string
	Body []byte // what it must answer
}

// Options are what every subject is started with.
type Options struct {
	Spawner *proc.Spawner
	CPUs    []int // the cores it and its children may run on; empty for all
	AppCPUs []int // those that applications apart may run on; empty for all
	Probe   Probe
}
