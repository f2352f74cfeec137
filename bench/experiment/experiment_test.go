package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/internal/testproc"
)

// hogOn names, in the environment, the core that a test binary is to use up.
const hogOn = "WEIGHSTONE_HOG"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == role {
		fmt.Fprintln(os.Stderr, serveAs(os.Args[2:]))
		os.Exit(1)
	}
	if core := os.Getenv(hogOn); core != "" {
		fmt.Fprintln(os.Stderr, testproc.Hog(core))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// options are those of a test: floors compiled, fixtures written.
func options(t *testing.T) Options {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"floor", "prefork", "spawn", "threads"} {
		cmd := exec.Command(cc, "-O2", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, name), "../floor/"+name+".c")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("compile %s: %v\n%s", name, err, out)
		}
	}
	o, err := Options{FloorDir: dir, Fixtures: filepath.Join(dir, "fixtures")}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// floorCell is a floor under a short load, with further work in the shell
// before it.
func floorCell(t *testing.T, l *lab, name, shell, file string) *cell {
	t.Helper()
	program, err := l.floorProgram("floor")
	if err != nil {
		t.Fatal(err)
	}
	r := subject.Floor(program, file, false)
	r.Name = name
	if shell != "" {
		inner := r.Args
		r.Path = "/bin/sh"
		r.Args = func(port int, config string) []string {
			return append([]string{"-c", shell, program}, inner(port, config)...)
		}
	}
	s, err := l.local(r)
	if err != nil {
		t.Fatal(err)
	}
	c := l.cell(s, hundred, "100.html", true, 4, 250*time.Millisecond)
	c.name = name
	return c
}

// pair is an experiment with two floors.
func pair(t *testing.T, runs int, shellOfB string) Experiment {
	return Experiment{Name: "pair", bare: true, design: func(l *lab) (*design, error) {
		file := filepath.Join(l.Fixtures, hundred)
		a, b := floorCell(t, l, "a", "", file), floorCell(t, l, "b", shellOfB, file)
		return &design{
			units: [][]*cell{{a, b}}, runs: runs, remarks: []string{"c is not installed"},
			compare: []comparison{
				{name: "a to b", a: a, b: b, metric: claimCPU, published: 2, source: "somebody"},
				{name: "a to b", a: a, b: b, metric: claimRate},
			},
		}, nil
	}}
}

func TestRun(t *testing.T) {
	o := options(t)
	o.OutDir = filepath.Join(t.TempDir(), "new")
	o.Command = []string{"bench", "pair"}
	o.LinkMbit = 1e6
	var stages []Progress
	o.Progress = func(p Progress) { stages = append(stages, p) }
	doc, err := pair(t, 6, "").run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Cells) != 2 || len(doc.Comparisons) != 2 || doc.Environment.Fixtures != fixtures.Expected().Digest ||
		doc.Environment.Kernel == "" || doc.Environment.Facts["a.version"] == "" || !slices.Contains(doc.Reasons, "c is not installed") {
		t.Errorf("document: %+v", doc)
	}
	var positions []int
	for _, c := range doc.Cells {
		m := &c.Metrics
		for name, v := range map[string]*bench.Metric{"rate": m.RequestsPerS, "server CPU": m.ServerCPUMicros,
			"server CPU %": m.ServerCPUPercent, "client CPU %": m.ClientCPUPercent, "network %": m.NetworkPercent, "longest": m.LatencyMS.Max} {
			if v == nil || v.Median == nil || *v.Median <= 0 || v.Lo == nil || v.N != 6 {
				t.Errorf("%s: %s is %+v", c.Variant, name, v)
			}
		}
		if n := m.Errors.Total(); n > 0 || len(c.Runs) != 6 {
			t.Errorf("%s: %d errors in %d runs", c.Variant, n, len(c.Runs))
		}
		for _, r := range c.Runs {
			positions = append(positions, r.Position)
		}
	}
	slices.Sort(positions)
	if len(positions) != 12 || positions[0] != 0 || positions[11] != 11 {
		t.Errorf("positions are %v", positions)
	}
	for _, c := range doc.Comparisons {
		if c.Ratio == nil || c.Lo == nil || c.Hi == nil || c.P == nil {
			t.Errorf("comparison: %+v", c)
		}
	}
	if first, last := stages[0], stages[len(stages)-1]; first.Stage != StageBegin || first.Left <= 0 || last.Stage != StageEnd || last.Done != 12 || last.Total != 12 {
		t.Errorf("progress: first %+v, last %+v", first, last)
	}
	b, err := os.ReadFile(filepath.Join(o.OutDir, "pair.json"))
	if err != nil {
		t.Fatal(err)
	}
	var again bench.Document
	if err := json.Unmarshal(b, &again); err != nil || again.Schema != bench.Schema || len(again.Cells) != 2 {
		t.Errorf("the file: %v", err)
	}
}

func TestServerDiesMidRun(t *testing.T) {
	o := options(t)
	e := pair(t, 20, `"$0" "$@" & sleep 0.2; kill -9 $!; echo out of luck >&2; exit 4`)
	doc, err := e.run(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "out of luck") || !strings.Contains(err.Error(), "exit status 4") {
		t.Fatalf("error: %v", err)
	}
	if doc == nil || doc.Verdict != bench.Incomplete || !strings.Contains(doc.Reasons[0], "out of luck") {
		t.Errorf("document: %+v", doc)
	}
}

func TestServerNeverReady(t *testing.T) {
	o := options(t)
	doc, err := pair(t, 6, "echo cannot bind >&2; exit 1").run(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "cannot bind") || doc == nil || doc.Verdict != bench.Incomplete {
		t.Errorf("error: %v, document: %+v", err, doc)
	}
}

func TestGarbageIsNotTimed(t *testing.T) {
	o := options(t)
	e := Experiment{Name: "garbage", bare: true, design: func(l *lab) (*design, error) {
		a := floorCell(t, l, "a", "", filepath.Join(l.Fixtures, hundred))
		b := floorCell(t, l, "b", "", filepath.Join(l.Fixtures, hundred))
		b.proofs = []proof{{"/index.html", "index.html"}}
		return &design{units: [][]*cell{{a, b}}, runs: 6}, nil
	}}
	doc, err := e.run(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "expected 4782") {
		t.Errorf("error: %v", err)
	}
	if len(doc.Cells[0].Runs) > 0 {
		t.Error("a was timed before b had shown what it answers")
	}
}

func TestDifferentAnswersAreNotCompared(t *testing.T) {
	o := options(t)
	l := testLab(t, o)
	other := filepath.Join(l.temp, "other.html")
	if err := os.WriteFile(other, []byte(strings.Repeat("x", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	a := floorCell(t, l, "a", "", filepath.Join(l.Fixtures, hundred))
	b := floorCell(t, l, "b", "", other)
	a.proofs = []proof{{"/hello", "hello"}}
	b.proofs = a.proofs
	s := &session{lab: l}
	if err := s.prove(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	base, err := b.subject.Start(context.Background())
	if err == nil {
		t.Fatalf("b is ready at %s though its probe is wrong", base)
	}
	// Another path than the probe's can still differ.
	c := floorCell(t, l, "c", "", filepath.Join(l.Fixtures, hundred))
	c.proofs = a.proofs
	l.known["hello"] = known{by: "a", len: 5}
	if err := s.prove(context.Background(), c); err == nil || !strings.Contains(err.Error(), "do not do the same work") {
		t.Errorf("got %v", err)
	}
	if err := l.down(); err != nil {
		t.Error(err)
	}
}

// TestDownStopsAllAtOnce has two servers end only when both were told to.
func TestDownStopsAllAtOnce(t *testing.T) {
	l := testLab(t, options(t))
	dir, file := t.TempDir(), filepath.Join(l.Fixtures, hundred)
	await := func(mine, other string) string {
		return fmt.Sprintf(`"$0" "$@" & trap 'cd %s; : >%s; until [ -e %s ]; do sleep .01; done; kill $!; exit 0' TERM; wait`, dir, mine, other)
	}
	for _, c := range []*cell{floorCell(t, l, "a", await("a", "b"), file), floorCell(t, l, "b", await("b", "a"), file)} {
		if _, err := l.up(context.Background(), c.subject); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.down(); err != nil || len(l.started) > 0 {
		t.Errorf("%d still run: %v", len(l.started), err)
	}
}

func testLab(t *testing.T, o Options) *lab {
	t.Helper()
	l, err := newLab(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

func TestInterrupted(t *testing.T) {
	o := options(t)
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(p Progress) {
		if p.Done == 5 {
			cancel()
		}
	}
	doc, err := pair(t, 6, "").run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Verdict != bench.Incomplete || !strings.Contains(doc.Reasons[0], "5 of 12 runs: interrupted") {
		t.Errorf("verdict %s, reasons %q", doc.Verdict, doc.Reasons)
	}
	if n := len(doc.Cells[0].Runs) + len(doc.Cells[1].Runs); n != 5 {
		t.Errorf("%d runs are in the document", n)
	}
}

func TestSpawnProgram(t *testing.T) {
	o := options(t)
	o.CGIDir = "/bin"
	l := testLab(t, o)
	p, err := l.spawn("pwd")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.measure(context.Background(), l, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests < firstRuns || *r.RequestsPerS <= 0 || *r.ServerCPUMicros <= 0 {
		t.Errorf("got %+v", r)
	}
	for child, want := range map[string]string{"false": "failed", "true": "printed nothing", "nothing-there": "No such file"} {
		p, err := l.spawn(child)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.measure(context.Background(), l, time.Millisecond); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", child, err)
		}
	}
	if _, err := parseSpawn("hello"); err == nil {
		t.Error("a line of another program is taken")
	}
}

func TestOrderTurnsRound(t *testing.T) {
	units := [][]*cell{{{name: "a"}, {name: "b"}}, {{name: "c"}, {name: "d"}}, {{name: "e"}}}
	d := &design{units: units}
	text := func(round int) string {
		var s string
		for _, c := range d.order(1, round) {
			s += c.name
		}
		return s
	}
	distinct := map[string]bool{}
	for round := 0; round < 40; round += 2 {
		first, second := text(round), text(round+1)
		distinct[first] = true
		for _, unit := range []string{"ab", "cd"} {
			turned := unit[1:] + unit[:1]
			if strings.Contains(first, unit) == strings.Contains(second, unit) || strings.Contains(first, turned) == strings.Contains(second, turned) {
				t.Errorf("rounds %d and %d are %s and %s", round, round+1, first, second)
			}
		}
	}
	if len(distinct) < 5 {
		t.Errorf("the order is hardly shuffled: %v", distinct)
	}
	if again := text(0); again != text(0) {
		t.Error("the same seed gives another order")
	}
}

func TestFind(t *testing.T) {
	for _, e := range List() {
		got, err := Find(e.Name)
		if err != nil || got.Question == "" || got.Unavailable == "" && (got.Held == "" || got.NotRepeated == "") || got.design == nil {
			t.Errorf("%s: %+v, %v", e.Name, got, err)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), "epoll-vs-poll") {
		t.Errorf("got %v", err)
	}
	if _, err := Run(context.Background(), "nothing", Options{}); err == nil {
		t.Error("an experiment that is not there runs")
	}
}

func TestDesigns(t *testing.T) {
	o := options(t)
	o.Quick = true
	for name, want := range map[string]struct{ units, cells, runs int }{
		"api-vs-cgi":    {7, 14, 6},
		"epoll-vs-poll": {9, 18, 6},
		"cgi-floor":     {1, 2, 6},
		"cgi-helper":    {1, 4, 6},
		"card":          {5, 12, 6},
		"files-vs-db":   {4, 12, 6},
	} {
		l := testLab(t, o)
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.design(l)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.units) != want.units || len(d.cells()) != want.cells || d.runs != want.runs {
			t.Errorf("%s: %d units, %d cells, %d runs; want %+v", name, len(d.units), len(d.cells()), d.runs, want)
		}
		names := map[string]bool{}
		for _, c := range d.cells() {
			if names[c.name] {
				t.Errorf("%s: two cells are named %s", name, c.name)
			}
			names[c.name] = true
			if c.plan != nil {
				if _, err := c.plan("http://127.0.0.1:1"); err != nil {
					t.Errorf("%s: plan of %s: %v", name, c.name, err)
				}
			}
		}
	}
}

// Both comparisons of make bench end within ten minutes together, with time to
// spare for starting servers.
func TestQuickEstimate(t *testing.T) {
	o := options(t)
	o.Quick = true
	l := testLab(t, o)
	var sum time.Duration
	for _, name := range []string{"api-vs-cgi", "epoll-vs-poll"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.design(l)
		if err == nil {
			err = l.control(d)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(d.controls.twins) != 2 || len(d.controls.ceiling) != 1 {
			t.Errorf("%s: controls are %+v", name, d.controls)
		}
		s := &session{experiment: e, lab: l, design: d}
		sum += s.cost()
	}
	if sum > 450*time.Second {
		t.Errorf("the runs alone take %v", sum)
	}
}

func TestFewDescriptors(t *testing.T) {
	o := options(t)
	l := testLab(t, o)
	l.noFile = 2000
	d, err := designEpollVsPoll(l)
	if err != nil {
		t.Fatal(err)
	}
	var shrunk int
	for _, c := range d.cells() {
		if c.load.clients+c.load.idle+spareDescriptors > l.noFile {
			t.Errorf("%s needs more descriptors than there are", c.name)
		}
		if len(c.remarks) > 0 && strings.Contains(c.remarks[0], "instead of 8000") {
			shrunk++
		}
	}
	if shrunk != 8 {
		t.Errorf("%d cells say that they were made smaller", shrunk)
	}
	l.noFile = 1000
	if d, err = designEpollVsPoll(l); err != nil || len(d.units) != 12 || len(d.remarks) != 1 {
		t.Errorf("%d units, remarks %q, %v", len(d.units), d.remarks, err)
	}
}

func TestWrongChoices(t *testing.T) {
	o := options(t)
	l := testLab(t, o)
	l.Variants = []string{"epoll"}
	if _, err := designEpollVsPoll(l); err == nil {
		t.Error("one variant is enough for a comparison")
	}
	l.Variants, l.Subjects = nil, []Remote{{"theirs", "http://127.0.0.1:1"}}
	if _, err := designEpollVsPoll(l); err == nil {
		t.Error("the CPU of a server elsewhere is measured")
	}
	l.Subjects[0].URL = "ftp://somewhere"
	if _, err := designAPIVsCGI(l); err == nil {
		t.Error("a subject with a nonsensical URL is taken")
	}
	l.FloorDir = t.TempDir()
	if _, err := designFloor(l); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the floor: %v", err)
	}
}

func TestCheck(t *testing.T) {
	o := options(t)
	if _, err := Check("epoll-vs-poll", o); err != nil {
		t.Error(err)
	}
	o.Variants = []string{"epoll"}
	if _, err := Check("epoll-vs-poll", o); err == nil || !strings.Contains(err.Error(), "two variants") {
		t.Errorf("one variant: %v", err)
	}
	if _, err := Check("api-vs-cgi", o); err != nil {
		t.Error(err)
	}
	o.OutDir = filepath.Join(o.FloorDir, "floor", "out") // below a file
	if _, err := Check("api-vs-cgi", o); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a result is to be written below a file: %v", err)
	}
}

func TestPathBodies(t *testing.T) {
	seen := map[string]bool{}
	for i := range pathCount {
		b := pathBody(i)
		if len(b) != 100 || seen[string(b)] {
			t.Fatalf("path %d: %d bytes: %s", i, len(b), b)
		}
		seen[string(b)] = true
	}
}

func Example_crowd() {
	fmt.Println(crowd{10, 0})
	fmt.Println(crowd{10, 1000})
	// Output:
	// 10 active
	// 10 active, 1000 idle
}
