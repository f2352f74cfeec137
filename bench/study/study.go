package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
)

// A Study is a published comparison and how it is repeated. It is plain data,
// made anew by each call of [List] or [Find].
type Study struct {
	Name     string // on the command line
	Title    string
	Cite     string // who published it, and when
	Question string // one sentence
	Claimed  string // what the study claimed, in one sentence that a student can read

	// Held says what is equal on all sides; NotRepeated, what of the study
	// can't be.
	Held, NotRepeated string

	// Unavailable is why the study can't be run, empty for one that can.
	Unavailable string

	Servers []Server
	Loads   []Load
	// Full are the points of a whole run and Quick those of a quick look, at
	// most 16: together in the order of the study, compared within a unit.
	Full, Quick []Unit
	// Duration is how long a load is measured, QuickDuration in a quick look.
	Duration, QuickDuration time.Duration
	Repetitions             int // of each point; 0: as many as experiments have
	Published               Figures

	Tables []Table
	Charts []Chart
	Claims []Claim
	// Notes are explanations that belong into the report, a paragraph each.
	Notes []string
}

// A Server is one of the study's, or a change of one.
type Server struct {
	Key       string
	Published string // the study's name for it; empty if it had none
	Variant   string // which of our servers stands for it; empty if none does
	Flags     []string
	Why       string // why that one

	// AccessLog has it write one, which is emptied before each load.
	AccessLog bool
	// Changes is set for an ablation: the key of the server that it is but for
	// Change, which says what is different.
	Changes, Change string
	// Limited marks a server that is expected to fail requests: its errors are
	// what is measured, and no fault of the run.
	Limited bool
	// Patience is how long its replies are waited for; 0: as long as in all
	// experiments.
	Patience time.Duration
	// Pause is how long the server is stopped when a run begins; see the notes
	// of the study that does so.
	Pause time.Duration
	// Remote is the URL of a server that runs already.
	Remote string
	// Peer is the name of a real server that is started here, if it is
	// installed, and stands for itself.
	Peer string
	// Scripts is how such a server runs those of PHP and Perl, if it does.
	Scripts Interpreters
	// Processors is how many loops it has, each on a core of its own; 0 where that
	// does not matter.
	Processors int
	// Called is the label, where none of these make one.
	Called string
}

// Interpreters are where scripts of PHP and Perl run.
type Interpreters uint8

// The ways.
const (
	NoScripts Interpreters = iota
	InProcess              // of the server: mod_php and mod_perl
	ByFastCGI
)

// Label is how tables and cells call the server.
func (s *Server) Label() string {
	switch {
	case s.Called != "":
		return s.Called
	case s.Peer != "":
		return s.Peer + " itself"
	case s.Changes != "":
		return s.Variant + " with " + s.Change
	case s.Variant == "":
		return s.Published
	case s.Published != "":
		return s.Variant + " for " + s.Published
	}
	return s.Variant
}

// A Load is what is asked, the number of clients aside.
type Load struct {
	Key, Label string

	List string   // a file list of the fixtures: "silicon-surf-1.x"; empty for one path
	Mix  plan.Mix // how much of it is made by Dynamic
	// Dynamic is the path of the program, without the leading slash:
	// "api/send"; that of a single path too.
	Dynamic string
	Place   Place  // where a 2.x list's documents are
	Path    string // the one path

	// Varies says that the path's replies differ by nature: a page tells the
	// time, or the client's port. Then a good status is all that proves them.
	Varies bool

	// Style, if set, is the SPECweb99-style workload in place of all that.
	Style *Style

	Keepalive bool
	Requests  uint64 // how many a run has; 0: as many as come in its time
}

// A Style is how the SPECweb99-style workload is set.
type Style struct {
	Dirs     int
	LineRate int // of each connection, in bit/s; 0 for as fast as replies come
	Posts    int // if not 0, a run ends when so many are to be expected: a test of integrity
}

// A Place is where the same documents are.
type Place uint8

// The places.
const (
	InFiles Place = iota
	InDatabase
	InDatabaseByPath // with short URLs
)

// A Point is one server under one load.
type Point struct {
	Server, Load string // keys
	Clients      int
}

// A Unit is points that are compared, and so run right after each other.
type Unit []Point

// List returns the studies in the order of their years.
func List() []Study {
	return []Study{webstone1996(), webstone1997(), specweb2001(), litespeed2005(), ab2006()}
}

// Find returns the study of a name.
func Find(name string) (Study, bool) {
	all := List()
	i := slices.IndexFunc(all, func(s Study) bool { return s.Name == name })
	if i < 0 {
		return Study{}, false
	}
	return all[i], true
}

// Server returns the server of a key; nil if there is none.
func (s *Study) Server(key string) *Server {
	i := slices.IndexFunc(s.Servers, func(v Server) bool { return v.Key == key })
	if i < 0 {
		return nil
	}
	return &s.Servers[i]
}

// Load returns the load of a key; nil if there is none.
func (s *Study) Load(key string) *Load {
	i := slices.IndexFunc(s.Loads, func(v Load) bool { return v.Key == key })
	if i < 0 {
		return nil
	}
	return &s.Loads[i]
}

// Cell is what a document calls a point; unique in the study.
func (s *Study) Cell(p Point) string {
	server, load := p.Server, p.Load
	if v := s.Server(server); v != nil {
		server = v.Label()
	}
	if v := s.Load(load); v != nil {
		load = v.Label
	}
	return fmt.Sprintf("%s, %s, %d clients", server, load, p.Clients)
}

// Units returns the points to run.
func (s *Study) Units(quick bool) []Unit {
	if quick {
		return s.Quick
	}
	return s.Full
}

// With returns the study with further servers beside its own. Each takes the
// points that the first server has and it can be asked for. A real server that
// the study has itself is not there twice.
func (s Study) With(more ...Server) Study {
	more = slices.DeleteFunc(slices.Clone(more), func(v Server) bool {
		return v.Peer != "" && slices.ContainsFunc(s.Servers, func(own Server) bool { return own.Peer == v.Peer })
	})
	if len(more) == 0 {
		return s
	}
	for i := range more {
		more[i].AccessLog = s.Servers[0].AccessLog && more[i].Remote == ""
	}
	s.Full, s.Quick = s.beside(s.Full, more), s.beside(s.Quick, more)
	s.Servers = slices.Concat(s.Servers, more)
	return s
}

func (s *Study) beside(units []Unit, more []Server) []Unit {
	first := s.Servers[0].Key
	var all []Unit
	for _, u := range units {
		grown := slices.Clone(u)
		for _, p := range u {
			if p.Server != first {
				continue
			}
			for _, v := range more {
				if v.has(s.Load(p.Load)) {
					grown = append(grown, Point{v.Key, p.Load, p.Clients})
				}
			}
		}
		all = append(all, grown)
	}
	return all
}

// has says whether a server can be asked for a load: all of ours can, a real
// one that is started here has the files and CGI programs, and of one that runs
// already it is known only that it has the files.
func (s *Server) has(l *Load) bool {
	files := l.Dynamic == "" && l.Place == InFiles
	return s.Remote == "" && s.Peer == "" || files || s.Peer != "" && l.CGI()
}

// CGI says whether some of a load's pages are made by CGI programs.
func (l *Load) CGI() bool { return strings.HasPrefix(l.Dynamic, "cgi-bin/") }

// points returns a server's points at each load and number of clients.
func points(server string, loads []string, clients ...int) []Point {
	var all []Point
	for _, l := range loads {
		for _, n := range clients {
			all = append(all, Point{server, l, n})
		}
	}
	return all
}

// sentence ends a text with a full stop.
func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }
