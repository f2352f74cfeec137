package tests

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/study"
)

// TestStudies repeats each published study with a few requests of each point:
// all servers and loads that it names work, and every conclusion is judged or
// says why not.
func TestStudies(t *testing.T) {
	for _, s := range study.List() {
		if s.Unavailable != "" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for servers to start and end
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			doc, err := experiment.Run(ctx, s.Name, experiment.Options{
				Tiny: true, Binary: built.program, Fixtures: built.fixtures, OutDir: dir, Seed: 1, FloorDir: dir,
			})
			if err != nil {
				t.Fatal(err)
			}
			if doc.Verdict == bench.RepliesWrong || doc.Study == nil || len(doc.Study.Conclusions) != len(s.Claims) || len(doc.Study.Summary) != 3 {
				t.Fatalf("verdict %s, reasons %q, study %+v", doc.Verdict, doc.Reasons, doc.Study)
			}
			for _, u := range s.Quick {
				for _, p := range u {
					c := s.Find(doc, p)
					v, style := s.Server(p.Server), s.Load(p.Load).Style
					if c == nil && v.Processors > 1 && strings.Contains(strings.Join(doc.Reasons, "\n"), v.Label()+" was left out: it takes") {
						continue
					}
					if c != nil && style != nil {
						if r := c.Runs[0]; r.Specweb == nil || r.Requests == 0 || r.Specweb.Posts == 0 && style.Posts > 0 {
							t.Errorf("%q: %+v", c.Name, r)
						}
						continue
					}
					if c == nil {
						if peer := s.Server(p.Server).Peer; peer == "" || !strings.Contains(strings.Join(doc.Reasons, "\n"), peer) {
							t.Errorf("%q was not run", s.Cell(p))
						}
						continue
					}
					limited := s.Server(p.Server).Limited
					if want := uint64(2 * p.Clients); c.Runs[0].Requests+c.Metrics.Errors.Total() != want || !limited && c.Runs[0].Requests != want {
						t.Errorf("%q: %d of %d requests, errors %v", c.Name, c.Runs[0].Requests, want, c.Metrics.Errors)
					}
				}
			}
			whole := onlyWhole(&s)
			for _, c := range doc.Study.Conclusions {
				cell, notRun := strings.CutSuffix(c.Reason, " was not run")
				if c.Holds == nil && c.Reason == "" || notRun && !strings.Contains(cell, " itself") && !whole[cell] {
					t.Errorf("%q: %+v", c.Text, c)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "result.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// onlyWhole are the cells, in quotes, that a whole run has and a quick look,
// which a tiny one is of, has not.
func onlyWhole(s *study.Study) map[string]bool {
	cells := map[string]bool{}
	mark := func(units []study.Unit, whole bool) {
		for _, u := range units {
			for _, p := range u {
				cells[strconv.Quote(s.Cell(p))] = whole
			}
		}
	}
	mark(s.Full, true)
	mark(s.Quick, false)
	return cells
}
