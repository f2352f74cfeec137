package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/bench/subject"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/proc"
)

// studyRuns is how often each point of a study is run: the fewest that have an
// interval, as points are many. The study of 1996 had three for one load and
// one for the others.
const studyRuns = fewestRuns

// repeated makes the experiment that repeats a study. The user's variants and
// servers that run already are put beside the study's own.
func repeated(s study.Study) Experiment {
	return Experiment{
		Name: s.Name, Question: s.Question, Held: s.Held, NotRepeated: s.NotRepeated, Unavailable: s.Unavailable,
		study: &s, design: func(l *lab) (*design, error) { return l.designStudy(s) },
		bare: slices.ContainsFunc(s.Loads, func(l study.Load) bool { return l.Style != nil }),
	}
}

// Study returns the study that an experiment repeats, with the servers that
// the options put beside its own; false for an experiment of our own.
func (e *Experiment) Study(o *Options) (study.Study, bool) {
	if e.study == nil {
		return study.Study{}, false
	}
	return e.study.With(beside(o)...), true
}

// beside are the servers that the user wants beside a study's.
func beside(o *Options) []study.Server {
	var more []study.Server
	for _, v := range o.Variants {
		more = append(more, study.Server{Key: "own " + v, Variant: v})
	}
	for _, name := range o.Peers {
		more = append(more, study.Server{Key: "peer " + name, Peer: name})
	}
	for _, r := range o.Subjects {
		more = append(more, study.Server{Key: "remote " + r.Name, Variant: r.Name, Remote: r.URL})
	}
	return more
}

func (l *lab) designStudy(s study.Study) (*design, error) {
	if s.Unavailable != "" {
		return nil, fmt.Errorf("it can't be run: %s", s.Unavailable)
	}
	runs, duration := l.scaled(studyRuns, studyRuns, s.Duration, s.QuickDuration)
	if s.Repetitions > 0 && l.Runs == 0 {
		runs = s.Repetitions
	}
	if l.Tiny {
		runs = 1
	}
	d := &design{runs: runs}
	s = s.With(beside(&l.Options)...)
	subjects := map[string]*studied{}
	for _, u := range s.Units(l.Quick || l.Tiny) {
		var unit []*cell
		for _, p := range u {
			if subjects[p.Server] == nil {
				made, err := l.studied(s.Server(p.Server))
				if err != nil {
					return nil, err
				}
				subjects[p.Server] = made
			}
			on := subjects[p.Server]
			if why := on.refuses(s.Load(p.Load)); why != "" {
				d.remark(why)
				continue
			}
			cellOf := l.studyCell
			if s.Load(p.Load).Style != nil {
				cellOf = l.styleCell
			}
			c, err := cellOf(&s, p, on, duration)
			if err != nil {
				return nil, err
			}
			unit = append(unit, c)
		}
		if len(unit) > 0 {
			d.units = append(d.units, unit)
		}
	}
	return d, nil
}

// remark adds a remark once.
func (d *design) remark(text string) {
	for _, r := range d.remarks {
		if r == text {
			return
		}
	}
	d.remarks = append(d.remarks, text)
}

// logOf is where a study's server writes its access log.
func (l *lab) logOf(key string) string { return filepath.Join(l.temp, key+".log") }

// A studied is a server of a study as a subject, or why it is none.
type studied struct {
	subject subject.Subject // nil if it can't be run here
	why     string          // not, or not by CGI

	serverCPUs, clientCPUs []int // its cores and its client's
}

// refuses says why a load can't be put on the server; empty if it can.
func (s *studied) refuses(asked *study.Load) string {
	if s.subject == nil || asked.CGI() {
		return s.why
	}
	if local, ok := s.subject.(*subject.Local); asked.Style != nil && ok && local.Real() {
		return s.subject.Name() + " does not know the operations of " + rules.Style
	}
	return ""
}

func (l *lab) studied(v *study.Server) (*studied, error) {
	if reason := l.Refused[v.Variant]; reason != "" && v.Remote == "" && v.Peer == "" {
		return &studied{why: fmt.Sprintf("%s was not run: %s", v.Label(), reason)}, nil
	}
	var out studied
	var err error
	switch {
	case v.Peer != "":
		return l.studiedPeer(v)
	case v.Remote != "":
		out.subject, err = l.remote(Remote{Name: v.Label(), URL: v.Remote})
	default:
		return l.studiedVariant(v)
	}
	out.serverCPUs, out.clientCPUs = l.serverCPUs, l.clientCPUs
	return &out, err
}

// studiedPeer is a real server with the files and, if it can, CGI programs.
func (l *lab) studiedPeer(v *study.Server) (*studied, error) {
	if _, err := subject.FindPeer(v.Peer); err != nil {
		return &studied{why: err.Error()}, nil
	}
	setup := subject.Setup{Root: l.Fixtures, CGI: l.CGIDir}
	var err error
	if setup.Scripts, err = l.scripts(v.Scripts); err != nil {
		return &studied{why: v.Label() + " was left out: " + err.Error()}, nil
	}
	if v.AccessLog {
		setup.AccessLog = l.logOf(v.Key)
	}
	recipes, why, err := found(setup, v.Peer)
	if err != nil {
		return nil, err
	}
	out := &studied{why: strings.Join(why, "; ")}
	if len(recipes) == 0 { // it may be CGI alone that it lacks
		setup.CGI = ""
		if recipes, _, err = found(setup, v.Peer); err != nil || len(recipes) == 0 {
			return out, err
		}
	}
	r := recipes[0]
	r.Name = v.Label()
	out.subject, err = l.local(r)
	return out, err
}

// scripts are the sample scripts of PHP and Perl, run in the server's process
// or by as many processes of their own as ours start.
func (l *lab) scripts(where study.Interpreters) ([]subject.Scripts, error) {
	if where == study.NoScripts {
		return nil, nil
	}
	beside := filepath.Dir(l.CGIDir)
	php := subject.Scripts{Suffix: ".php", Dir: filepath.Join(beside, "php")}
	perl := subject.Scripts{Suffix: ".pl", Dir: l.CGIDir}
	if where == study.ByFastCGI {
		var err, perr error
		php.Host, err = subject.PHP(0)
		perl.Host, perr = subject.Perl(filepath.Join(beside, "perl", "perlhost.pl"), 0)
		if err = errors.Join(err, perr); err != nil {
			return nil, err
		}
	}
	return []subject.Scripts{php, perl}, nil
}

func (l *lab) studiedVariant(v *study.Server) (*studied, error) {
	cores, client, enough := coresFor(proc.CPUs(), v.Processors)
	if !enough {
		return &studied{why: fmt.Sprintf("%s was left out: it takes %d cores and one for the client, and there are %d", v.Label(), v.Processors, len(proc.CPUs()))}, nil
	}
	flags := append([]string{"--fixtures", l.Fixtures}, v.Flags...)
	if v.AccessLog {
		flags = append(flags, "--access-log", l.logOf(v.Key))
	}
	r := subject.Weighstone(l.Binary, v.Variant, flags...)
	r.Name = v.Label()
	on, err := l.localOn(r, cores)
	return &studied{subject: on, serverCPUs: cores, clientCPUs: client}, err
}

// studyCell is a point of a study.
func (l *lab) studyCell(s *study.Study, p study.Point, on *studied, duration time.Duration) (*cell, error) {
	server, asked := s.Server(p.Server), s.Load(p.Load)
	c, err := l.askedCell(on.subject, asked, p.Clients, duration)
	if err != nil {
		return nil, err
	}
	c.name, c.handler = s.Cell(p), asked.Label
	c.load.clients, c.load.keepalive, c.load.http10 = p.Clients, asked.Keepalive, true
	c.load.requests, c.load.patience = asked.Requests, server.Patience
	if l.Tiny {
		c.load.requests = uint64(2 * p.Clients)
	}
	if c.load.requests > 0 {
		c.load.warmup = 0 // as ab has none
	}
	c.path = asked.Path
	c.load.limited, c.load.pause = server.Limited, server.Pause
	c.optional = server.Peer != "" && !slices.Contains(l.Peers, server.Peer)
	if server.AccessLog {
		c.log = l.logOf(server.Key)
	}
	return c, nil
}

// askedCell is a server under a study's load.
func (l *lab) askedCell(on subject.Subject, asked *study.Load, clients int, duration time.Duration) (*cell, error) {
	switch {
	case asked.List == "":
		content := strings.TrimPrefix(asked.Path, "/")
		if content == "" {
			content = "index.html"
		}
		c := l.cell(on, asked.Path, content, asked.Keepalive, clients, duration)
		if asked.Varies {
			c.proofs, c.plan = nil, l.varying(asked.Path)
		}
		return c, nil
	case strings.HasSuffix(asked.List, "2.x"):
		return l.placeCell(on, places()[asked.Place], clients, duration)
	}
	list, err := plan.Open(filepath.Join(l.Fixtures, "filelists", asked.List+".txt"))
	if err != nil {
		return nil, err
	}
	return surfCell(l, on, list, asked.Mix, asked.Dynamic, duration), nil
}

// varying is the plan that asks for one path whose replies differ.
func (l *lab) varying(path string) func(base string) (*plan.Plan, error) {
	return func(base string) (*plan.Plan, error) {
		return plan.URL(base+path, plan.Options{Seed: l.Seed, VariableLength: true})
	}
}
