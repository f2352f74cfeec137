package experiment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// A server that sends something else than ours is named, with the URL and both
// digests, before anything is timed.
func TestWrongBytes(t *testing.T) {
	l := testLab(t, options(t))
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("x", 100)) }))
	defer wrong.Close()
	l.Subjects = []Remote{{"theirs", wrong.URL}}
	all, err := l.remotes()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = l.up(ctx, all[0])
	if !errors.Is(err, subject.ErrWrongBytes) || !strings.Contains(err.Error(), "theirs") || !strings.Contains(err.Error(), wrong.URL+hundred) ||
		strings.Count(err.Error(), "SHA-256") != 2 {
		t.Errorf("got %v", err)
	}
}

func TestWires(t *testing.T) {
	ours := subject.Wire{URL: "http://ours/x", Status: 200, Size: 3, Framing: subject.ByLength, Kept: true}
	for _, c := range []struct {
		name   string
		change func(*subject.Wire)
		want   error
	}{
		{"the same", func(*subject.Wire) {}, nil},
		{"status", func(w *subject.Wire) { w.Status = 404 }, subject.ErrWrongBytes},
		{"bytes", func(w *subject.Wire) { w.SHA256[0]++ }, subject.ErrWrongBytes},
		{"framing", func(w *subject.Wire) { w.Framing = subject.ByChunks }, subject.ErrFraming},
		{"a program's framing", func(w *subject.Wire) { w.Framing, w.Request.Program = subject.ByChunks, true }, nil},
		{"closed", func(w *subject.Wire) { w.Kept = false }, subject.ErrFraming},
	} {
		theirs := ours
		theirs.URL = "http://theirs/x"
		c.change(&theirs)
		all := wires{theirs: []theirWire{{"nginx, 100 bytes", theirs}}}
		if err := all.same(); err != nil {
			t.Errorf("%s: without ours: %v", c.name, err)
		}
		all.ours = &ours
		err := all.same()
		if !errors.Is(err, c.want) || c.want != nil && (!strings.Contains(err.Error(), "nginx") || !strings.Contains(err.Error(), "to do:")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Every real server that is here is in every row that it can do, beside ours,
// and what can't be is remarked.
func TestDesignOfPeers(t *testing.T) {
	o := options(t)
	o.Variants = []string{"epoll"}
	l := testLab(t, o)
	d, err := designPeers(l)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range d.cells() {
		if names[c.name] {
			t.Errorf("%s is there twice", c.name)
		}
		names[c.name] = true
	}
	for _, p := range subject.Peers() {
		if _, err := p.Here(); err != nil {
			if !strings.Contains(strings.Join(d.remarks, "\n"), p.Name+" was left out") {
				t.Errorf("%s is not here, and nobody says so: %q", p.Name, d.remarks)
			}
			continue
		}
		for _, what := range l.duties() {
			name := p.Name + ", " + what.name
			said := strings.Contains(strings.Join(d.remarks, "\n"), p.Name+" was left out")
			if !names[name] && !said {
				t.Errorf("%s is not there, and no remark says why", name)
			}
		}
	}
	if len(l.unequal) == 0 {
		t.Error("nothing is said of what is not equal")
	}
	for i := range d.compare {
		if c := &d.compare[i]; c.a.subject.Name() != "epoll" && c.a.subject.Name() != c.b.subject.Name() {
			t.Errorf("%s compares %s", c.name, c.a.subject.Name())
		}
	}
}
