package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/study"
)

// TestStudyDesign: the points of a study become cells with the study's load,
// what the user adds goes beside, and what can't be run is left out and named.
func TestStudyDesign(t *testing.T) {
	o := options(t)
	o.Quick = true
	o.Variants = []string{"epoll"}
	o.Subjects = []Remote{{"elsewhere", "http://127.0.0.1:1"}}
	o.Refused = map[string]string{"prefork": "it is forbidden here"}
	l := testLab(t, o)
	s, _ := study.Find("webstone-1996")
	d, err := l.designStudy(s)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*cell{}
	for _, c := range d.cells() {
		by[c.name] = c
	}
	// 10 of IIS's place, as many of epoll but for the changed one, and the two
	// of static pages elsewhere.
	if len(by) != 9+1+9+2 || d.runs != 6 {
		t.Errorf("%d cells, %d runs", len(by), d.runs)
	}
	c := by["thread-pool for IIS, heavy by CGI, 128 clients"]
	if c == nil {
		t.Fatal("IIS's place is not there")
	}
	if c.load.clients != 128 || !c.load.http10 || c.load.keepalive || c.load.requests != 0 || c.log == "" || c.load.duration != s.QuickDuration {
		t.Errorf("%+v", c.load)
	}
	if c := by["elsewhere, static, 32 clients"]; c == nil || c.log != "" {
		t.Errorf("the server elsewhere: %+v", c)
	}
	if !slices.Contains(d.remarks, "prefork for NetSite was not run: it is forbidden here") {
		t.Errorf("remarks: %q", d.remarks)
	}
	if _, err := l.designStudy(study.Study{Name: "x", Unavailable: "there is none"}); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("a study that can't be run: %v", err)
	}
}

// TestStudyBeside: a real server that is not known is said so; ab's runs have
// a number of requests, one server is stopped, and a tiny run is one of a few
// requests.
func TestStudyBeside(t *testing.T) {
	o := options(t)
	o.Tiny = true
	l := testLab(t, o)
	s, _ := study.Find("ab-2006")
	s = s.With(study.Server{Key: "peer x", Peer: "no-such-server"})
	d, err := l.designStudy(s)
	if err != nil {
		t.Fatal(err)
	}
	paused := 0
	for _, c := range d.cells() {
		if c.load.requests != 20 || c.load.warmup != 0 {
			t.Errorf("%s: %+v", c.name, c.load)
		}
		if c.load.pause > 0 {
			paused++
		}
		if c.asAB() != (c.load.pause == 0) {
			t.Errorf("%s: as ab %v", c.name, c.asAB())
		}
	}
	if paused != 1 || d.runs != 1 || !strings.Contains(strings.Join(d.remarks, "\n"), "no-such-server") {
		t.Errorf("%d paused, %d runs, remarks %q", paused, d.runs, d.remarks)
	}
	var kept []string
	for _, e := range List() {
		if st, ok := e.Study(&Options{}); ok {
			kept = append(kept, st.Name)
		}
	}
	if !slices.Contains(kept, "ab-2006") || slices.Contains(kept, "card") {
		t.Errorf("studies: %q", kept)
	}
}

func TestLogIsEmptied(t *testing.T) {
	c := &cell{log: filepath.Join(t.TempDir(), "log")}
	if err := c.emptyLog(); err != nil {
		t.Errorf("before there is one: %v", err)
	}
	if err := os.WriteFile(c.log, []byte("a line\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.emptyLog(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(c.log); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestPaused: what connects to a server that is stopped waits, and the server
// goes on afterwards even if nobody waits for the pause to end.
func TestPaused(t *testing.T) {
	l := testLab(t, options(t))
	c := mannered(t, l, "stopped", manner{}, 50*time.Millisecond)
	c.load.pause = time.Hour
	if _, err := l.up(t.Context(), c.subject); err != nil {
		t.Fatal(err)
	}
	goOn, err := c.stopFor()
	if err != nil {
		t.Fatal(err)
	}
	awaitStopped(t, c, true)
	goOn()
	awaitStopped(t, c, false)
	c.load.pause = 20 * time.Millisecond
	c.load.requests, c.load.warmup = 16, 0
	run, err := l.measure(t.Context(), c)
	if err != nil || run.Requests != 16 {
		t.Errorf("%d requests, %v", run.Requests, err)
	}
	if err := l.down(); err != nil {
		t.Error(err)
	}
}

// awaitStopped waits until a cell's server is stopped, or is not (proc(5),
// the third field of stat).
func awaitStopped(t *testing.T, c *cell, want bool) {
	t.Helper()
	pid, err := c.subject.Pid()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ") T ") == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("want stopped %v: %s", want, text)
		}
	}
}

// TestOptionalServerIsLeftOut: one that does not start does not end the
// experiment if nobody asked for it by name.
func TestOptionalServerIsLeftOut(t *testing.T) {
	o := options(t)
	e := pair(t, 1, "echo it has no configuration >&2; exit 1")
	made := e.design
	e.design = func(l *lab) (*design, error) {
		d, err := made(l)
		if err == nil {
			d.units[0][1].optional, d.compare = true, nil
		}
		return d, err
	}
	doc, err := e.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Cells) != 1 || doc.Cells[0].Name != "a" || len(doc.Cells[0].Runs) == 0 {
		t.Errorf("cells: %+v", doc.Cells)
	}
	if reasons := strings.Join(doc.Reasons, "\n"); !strings.Contains(reasons, "b was left out: ") || !strings.Contains(reasons, "it has no configuration") {
		t.Errorf("reasons: %q", reasons)
	}
}

// TestStudiedScripts: a real server of a study runs scripts in its process, or
// by applications beside it, as the study says.
func TestStudiedScripts(t *testing.T) {
	l := testLab(t, options(t))
	l.CGIDir = filepath.Join("..", "..", "bin", "cgi")
	for where, hosts := range map[study.Interpreters]bool{study.InProcess: false, study.ByFastCGI: true} {
		all, err := l.scripts(where)
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		if len(all) != 2 {
			t.Fatalf("%d languages", len(all))
		}
		for _, x := range all {
			if (x.Host.Path != "") != hosts {
				t.Errorf("%s: host %+v, want one: %v", x.Suffix, x.Host, hosts)
			}
		}
	}
	if none, err := l.scripts(study.NoScripts); none != nil || err != nil {
		t.Errorf("without: %v, %v", none, err)
	}
}
