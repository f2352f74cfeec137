package report

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/tally"
)

// need fails in CI, and else skips, when a program is not installed.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is needed: %v", program, err)
	}
	t.Skipf("%s is not installed", program)
	return ""
}

// An abLine is one line of a report by ab, taken apart.
type abLine struct {
	label string
	shape string // the line with its figures as 9 and its decimals as 9s
	value string // what follows the label
}

var (
	abFigure  = regexp.MustCompile(` *\b\d+(\.\d+)?\b`)
	abDecimal = regexp.MustCompile(`\.\d+`)
)

// parseAB reads a report by ab from its first line on. The remarks on means
// and medians, which depend on the figures, are left out.
func parseAB(t *testing.T, out string) []abLine {
	t.Helper()
	start := strings.Index(out, "Server Software:")
	if start < 0 {
		t.Fatalf("no report in:\n%s", out)
	}
	var lines []abLine
	for line := range strings.Lines(strings.TrimRight(out[start:], "\n")) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "WARNING:") || strings.HasPrefix(line, "ERROR:") || strings.HasPrefix(line, "       ") && strings.Contains(line, "reliable") {
			continue
		}
		label, value, found := strings.Cut(line, ":")
		if percent, rest, ok := strings.Cut(line, "%  "); ok && !found {
			label, value = percent+"%", rest
		}
		shape := line
		if !strings.HasPrefix(line, "Document Path") {
			shape = abFigure.ReplaceAllStringFunc(line, func(s string) string {
				return " 9" + strings.Map(func(r rune) rune {
					if r == '.' {
						return r
					}
					return '9'
				}, abDecimal.FindString(s))
			})
		}
		lines = append(lines, abLine{strings.TrimSpace(label), shape, strings.TrimSpace(value)})
	}
	return lines
}

// TestABBesideAB runs ab and the generator against one server and takes both
// reports apart.
func TestABBesideAB(t *testing.T) {
	ab := need(t, "ab")
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "Example/1.2 (Unix) more")
		w.Write(bytes.Repeat([]byte("x"), 1234))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("a=b"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		args       []string
		o          plan.Options
		keepalive  bool
		loose      []string // labels whose value depends on what either sends
	}{
		{"keep-alive", "/page", []string{"-k"}, plan.Options{}, true, nil},
		{"one request a connection", "/page", nil, plan.Options{}, false, nil},
		{"not found", "/none", []string{"-k"}, plan.Options{}, true, nil},
		{"post", "/page", []string{"-k", "-p", body, "-T", "text/plain"}, plan.Options{Method: "POST", Body: []byte("a=b")}, true, []string{"Total body sent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			url := server.URL + c.path
			out, err := exec.CommandContext(ctx, ab, append(c.args, "-q", "-n", "400", "-c", "4", url)...).Output()
			if err != nil {
				t.Fatalf("ab: %v\n%s", err, out)
			}
			theirs := parseAB(t, string(out))
			p, err := plan.URL(url, c.o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := load.Run(ctx, load.Config{URL: url, Plan: p, Clients: 4, Requests: 400, Keepalive: c.keepalive, HTTP10: true, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := AB(&b, ABCompatible, r); err != nil {
				t.Fatal(err)
			}
			ours := parseAB(t, b.String())
			if c.path == "/none" {
				// To ab such a reply is as good as any; here it has no times.
				theirs = slices.DeleteFunc(theirs[:slices.IndexFunc(theirs, func(l abLine) bool { return l.label == "Connection Times (ms)" })], func(l abLine) bool {
					return l.label == "Document Length" || l.label == "HTML transferred"
				})
				ours = slices.DeleteFunc(ours, func(l abLine) bool { return l.label == "Document Length" || l.label == "HTML transferred" })
				theirs = slices.DeleteFunc(theirs, func(l abLine) bool { return l.label == "" })
				ours = slices.DeleteFunc(ours, func(l abLine) bool { return l.label == "" })
			}
			sameReport(t, theirs, ours, c.loose)
		})
	}
}

// sameReport compares labels, order, formats, and those values that two runs
// of the same must share.
func sameReport(t *testing.T, theirs, ours []abLine, loose []string) {
	t.Helper()
	shapes := func(lines []abLine) (all []string) {
		for _, l := range lines {
			all = append(all, l.shape)
		}
		return all
	}
	if d := cmp.Diff(shapes(theirs), shapes(ours)); d != "" {
		t.Fatalf("labels, order and formats, ab's and ours:\n%s", d)
	}
	for i, l := range theirs {
		switch l.label {
		case "Server Software", "Server Hostname", "Server Port", "Document Path", "Document Length", "Concurrency Level",
			"Complete requests", "Failed requests", "Non-2xx responses", "Keep-Alive requests", "Total transferred", "HTML transferred":
			if l.value != ours[i].value && !slices.Contains(loose, l.label) {
				t.Errorf("%s: ab says %q, we %q", l.label, l.value, ours[i].value)
			}
		}
	}
}

// abResult is a made result of good replies with these latencies in
// milliseconds.
func abResult(latencies ...int) *load.Result {
	p, err := plan.URL("http://127.0.0.1:8080/100.html", plan.Options{})
	if err != nil {
		panic(err) // it is a constant
	}
	r := &load.Result{
		Config:   load.Config{URL: "http://127.0.0.1:8080/100.html", Plan: p, Clients: 4, Pipeline: 1, Workers: 1, Keepalive: true},
		Elapsed:  1500 * time.Millisecond,
		Classes:  p.Classes(),
		Tally:    tally.New(tally.Config{Classes: 1}),
		Software: "weighstone/1 (epoll)", Connections: 4, Kept: uint64(len(latencies)), CPUGiven: time.Second,
	}
	for i, l := range latencies {
		s := bench.Sample{
			Sent: 100 * time.Microsecond, First: time.Duration(l)*time.Millisecond - 200*time.Microsecond,
			Last: time.Duration(l) * time.Millisecond, BytesIn: 340, Body: 100, Status: 200,
		}
		if i < 4 {
			s.Connected = 600 * time.Microsecond
		}
		r.Tally.Add(&s)
	}
	return r
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func TestABGolden(t *testing.T) {
	bad := abResult(3, 3, 3, 3, 90)
	for _, f := range []bench.Fault{bench.FaultRefused, bench.FaultReset, bench.FaultLength, bench.FaultLength, bench.FaultContent} {
		s := bench.Sample{Fault: f}
		if f.Wrong() {
			s.Status, s.BytesIn = 200, 240
		}
		bad.Tally.Add(&s)
	}
	bad.Tally.Add(&bench.Sample{Fault: bench.FaultStatus, Status: 404, BytesIn: 200})
	bad.Config.Keepalive = false
	for name, results := range map[string][]*load.Result{
		"ab.txt":        {abResult(upTo(101)...)},
		"ab-bad.txt":    {bad},
		"ab-ladder.txt": {abResult(upTo(10)...), abResult(7)},
		"ab-none.txt":   {abResult()},
	} {
		var b bytes.Buffer
		if err := AB(&b, Exact, results...); err != nil {
			t.Fatal(err)
		}
		goldenBytes(t, name, b.Bytes())
	}
}

// TestABAfterTheWindow counts the replies that ended after the window, and
// their time.
func TestABAfterTheWindow(t *testing.T) {
	r := abResult(900, 900, 2500, 2500)
	var b bytes.Buffer
	if err := AB(&b, Exact, r); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, line := range parseAB(t, b.String()) {
		if _, ok := got[line.label]; !ok {
			got[line.label] = line.value
		}
	}
	for label, want := range map[string]string{
		"Time taken for tests": "2.500 seconds", "Complete requests": "4",
		"Requests per second": "1.60 [#/sec] (mean)", "Time per request": "2500.000 [ms] (mean)",
	} {
		if got[label] != want {
			t.Errorf("%s: %q, want %q", label, got[label], want)
		}
	}
}

// TestABIndexing has the two ways of choosing differ where ab's own is odd.
func TestABIndexing(t *testing.T) {
	for _, c := range []struct {
		n                            int
		exactMedian, abMedian        time.Duration
		exact50, ab50, exact99, ab99 int64
	}{
		{2, 1500, 2000, 1, 2, 2, 2},
		{3, 2000, 2500, 2, 2, 3, 3},
		{100, 50500, 51000, 50, 51, 99, 100},
		{101, 51000, 51500, 51, 51, 100, 100},
	} {
		r := abResult(upTo(c.n)...)
		l := &r.Tally.Latency
		exact, compatible := abReport{r: r, ix: Exact}, abReport{r: r, ix: ABCompatible}
		close := func(a, b time.Duration) bool { return a-b < b/1000+2 && b-a < b/1000+2 }
		if e, a := exact.median(l), compatible.median(l); !close(e, c.exactMedian*time.Microsecond) || !close(a, c.abMedian*time.Microsecond) {
			t.Errorf("medians of %d: %v and %v", c.n, e, a)
		}
		for ix, want := range map[Indexing][2]int64{Exact: {c.exact50, c.exact99}, ABCompatible: {c.ab50, c.ab99}} {
			var b bytes.Buffer
			report := abReport{Buffer: &b, r: r, ix: ix}
			report.percentages()
			got := map[string]string{}
			for _, line := range parseAB(t, "Server Software:\n"+b.String()) {
				got[line.label] = line.value
			}
			for i, label := range []string{"50%", "99%"} {
				if got[label] != strings.TrimSpace(significant(float64(want[i]))) && got[label] != whole(float64(want[i])) {
					t.Errorf("%s of %d, compatible %v: %s, want %d", label, c.n, ix, got[label], want[i])
				}
			}
		}
	}
}
