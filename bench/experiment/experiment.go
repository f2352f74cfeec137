package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/fixtures"
)

// An Experiment is one comparison with its reasons.
type Experiment struct {
	Name     string
	Question string // one sentence
	// Held says what is the same on all sides; NotRepeated, what of the
	// published study is not or can't be.
	Held, NotRepeated string
	// Unavailable is why it can't be made yet; empty for one that can.
	Unavailable string

	study  *study.Study // that it repeats; nil for a question of our own
	design func(*lab) (*design, error)
	// peers says that real servers are set beside ours.
	peers bool
	// bare leaves out the controls and the counting of system calls.
	bare bool
}

// TakesPeers says whether the experiment heeds [Options.Peers].
func (e *Experiment) TakesPeers() bool { return e.peers || e.study != nil }

// List returns all experiments in the order in which to show them: questions of
// our own, then the studies that are repeated.
func List() []Experiment {
	all := []Experiment{apiVsCGI(), epollVsPoll(), floor(), connections(), cgiFloor(), cgiHelper(), fcgiGateway(), card(), mechanisms(), filesVsDB(), peers()}
	for _, s := range study.List() {
		all = append(all, repeated(s))
	}
	return all
}

// Find returns the experiment of a name.
func Find(name string) (Experiment, error) {
	var names []string
	for _, e := range List() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("no experiment %q: there are %s", name, strings.Join(names, ", "))
}

// A Remote is a server that runs already, as a further subject.
type Remote struct{ Name, URL string }

// ErrMisuse is for options that an experiment can't heed, whatever runs here.
var ErrMisuse = errors.New("--subject")

// Options say how an experiment is run. The zero value serves.
type Options struct {
	// Quick makes fewer and shorter runs: six, the fewest that have an
	// interval, where a design does not insist on more.
	Quick bool
	Runs  int // how many repetitions instead; 0: the design's own number
	// Tiny makes one short run of each saturated cell of the peers, and one of a
	// few requests of each point of a quick study, to
	// see that everything works: nothing is measured. It is for studies.
	Tiny bool

	Variants []string // of our servers, instead of the experiment's own choice; beside a study's
	Subjects []Remote // servers that run already, beside them
	// Peers are real servers by their names (subject.Peers): beside those of a
	// study, or instead of those that an experiment sets beside ours.
	Peers []string

	// Refused says of the variants that can't run on this machine why not;
	// an experiment leaves them out and remarks it.
	Refused map[string]string

	LinkMbit float64 // speed of the network in 10^6 bits a second; 0: not known

	Binary   string // the weighstone program; empty: this one
	FloorDir string // where floor and spawn are; empty: floor/ beside Binary
	CGIDir   string // where the CGI programs are; empty: cgi/ beside Binary
	Fixtures string // directory of the fixtures; empty: [fixtures.DefaultDir]
	OutDir   string // where the document is written as NAME.json; empty: nowhere

	Seed     uint64         // of the order of runs and of the plans
	Command  []string       // for the document
	Progress func(Progress) // called from the goroutine that called Run; may be nil
	// AB writes a result as ab does; nil where nobody wants that.
	AB  func(*load.Result) (string, error)
	Log *slog.Logger // nil discards
}

// withDefaults returns o with its empty fields filled in.
func (o Options) withDefaults() (Options, error) {
	if o.Binary == "" {
		self, err := os.Executable()
		if err != nil {
			return o, fmt.Errorf("find this program: %w", err)
		}
		o.Binary = self
	}
	if o.FloorDir == "" {
		o.FloorDir = filepath.Join(filepath.Dir(o.Binary), "floor")
	}
	if o.CGIDir == "" {
		o.CGIDir = filepath.Join(filepath.Dir(o.Binary), "cgi")
	}
	if o.Fixtures == "" {
		o.Fixtures = fixtures.DefaultDir()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}

// peers returns the user's choice of real servers, else the given ones.
func (o *Options) peers(standard ...string) []string {
	if len(o.Peers) > 0 {
		return o.Peers
	}
	return standard
}

// variants returns the user's choice of variants, else the given ones.
func (o *Options) variants(standard ...string) []string {
	if len(o.Variants) > 0 {
		return o.Variants
	}
	return standard
}
