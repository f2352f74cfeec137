package experiment

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/study"
	"github.com/weighstone/weighstone/bench/subject"
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
	subjects := map[string]subject.Subject{}
	for _, u := range s.Units(l.Quick || l.Tiny) {
		var unit []*cell
		for _, p := range u {
			server := s.Server(p.Server)
			if reason := l.Refused[server.Variant]; reason != "" && server.Remote == "" {
				d.remark(fmt.Sprintf("%s was not run: %s", server.Label(), reason))
				continue
			}
			if subjects[p.Server] == nil {
				made, err := l.studySubject(server)
				if err != nil {
					return nil, err
				}
				subjects[p.Server] = made
			}
			c, err := l.studyCell(&s, p, subjects[p.Server], duration)
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

func (l *lab) studySubject(v *study.Server) (subject.Subject, error) {
	if v.Remote != "" {
		probe, err := l.probe()
		if err != nil {
			return nil, err
		}
		s, err := subject.NewRemote(v.Label(), v.Remote, probe)
		if err != nil {
			return nil, err
		}
		return l.note(s), nil
	}
	flags := append([]string{"--fixtures", l.Fixtures}, v.Flags...)
	if v.AccessLog {
		flags = append(flags, "--access-log", l.logOf(v.Key))
	}
	r := subject.Weighstone(l.Binary, v.Variant, flags...)
	r.Name = v.Label()
	return l.local(r)
}

// studyCell is a point of a study.
func (l *lab) studyCell(s *study.Study, p study.Point, on subject.Subject, duration time.Duration) (*cell, error) {
	server, asked := s.Server(p.Server), s.Load(p.Load)
	c, err := l.askedCell(on, asked, p.Clients, duration)
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
		return l.cell(on, asked.Path, content, asked.Keepalive, clients, duration), nil
	case strings.HasSuffix(asked.List, "2.x"):
		return l.placeCell(on, places()[asked.Place], clients, duration)
	}
	list, err := plan.Open(filepath.Join(l.Fixtures, "filelists", asked.List+".txt"))
	if err != nil {
		return nil, err
	}
	return surfCell(l, on, list, asked.Mix, asked.Dynamic, duration), nil
}
