package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone/bench"
)

// TestPages fails when a variant has no page, or one that is not what the
// committed captures and results say.
func TestPages(t *testing.T) {
	pages := 0
	err := eachPage(filepath.Join("..", "..", "docs"), func(p *page) error {
		pages++
		if p.old != p.new {
			t.Errorf("%s is stale: run make docs; difference:\n%s", p.path, cmp.Diff(p.old, p.new))
		}
		return nil
	})
	if err != nil || pages == 0 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

const trace = `10  100.000100 epoll_pwait(4<anon_inode:[eventpoll]>, [], 128, 0, NULL, 0) = 0 <0.000010>
10  100.000200 epoll_pwait(9<anon_inode:[eventpoll]>,  <unfinished ...>
11  100.000300 nanosleep({tv_sec=0}, NULL) = 0 <0.100000>
11  100.200000 futex(0xc000080d48, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.000005>
10  101.000000 <... epoll_pwait resumed>[{events=EPOLLIN, data={u32=17, u64=17}}], 512, 60000, NULL, 0) = 1 <0.999800>
11  101.000100 read(17<TCP:[127.0.0.1:8080->127.0.0.1:5000]>, "GET /"..., 81920) = 44 <0.000010>
10  101.000150 --- SIGURG {si_signo=SIGURG} ---
10  102.500000 accept4(8<TCP:[127.0.0.1:8080]>, 0xc000123456, [112], SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable) <0.000010>
`

func TestTrace(t *testing.T) {
	calls, err := parse(trace)
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		from, to int64
		want     string
		futexes  int
	}{
		{100_500, 101_500, "A  epoll_pwait(eventpoll, [{events=EPOLLIN, data=...}], 512, 60000, NULL, 0) = 1\nB  read(connection, \"GET /\"..., 81920) = 44\n", 0},
		{102_000, 103_000, "accept4(listener, ADDR, [112], SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable)\n", 0},
		{100_000, 100_500, "", 1},
	} {
		in, futexes := within(calls, at(c.from), at(c.to))
		if got := show(in); got != c.want || futexes != c.futexes {
			t.Errorf("from %d: %d futexes and\n%s", c.from, futexes, got)
		}
	}
}

func TestFill(t *testing.T) {
	const page = "a\n<!-- calls -->\nold\n<!-- end of calls -->\nb\n"
	got, err := fill(page, "calls", "new\n")
	if want := strings.Replace(page, "old", "new", 1); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "<!-- calls -->\n", "<!-- end of calls -->\n"} {
		if _, err := fill(bad, "calls", ""); err == nil {
			t.Errorf("%q is filled", bad)
		}
	}
}

func TestFigures(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	yes := true
	d := &bench.Document{Command: []string{"weighstone", "bench", "card"}, Verdict: bench.Valid, Cells: []bench.Cell{{
		Variant: "epoll", Name: "epoll 100.html", Handler: "100.html", Load: bench.Load{Clients: 64, Keepalive: true},
		Metrics:  bench.Figures[bench.Metric]{RequestsPerS: &bench.Metric{Median: v(81234), Lo: v(80000), Hi: v(82000)}, ServerCPUMicros: &bench.Metric{Median: v(0.5)}},
		Syscalls: &bench.Syscalls{PerRequest: map[string]float64{"read": 1, "sendto": 1, "epoll_pwait": 0.02, "futex": 0.001}},
	}}, Comparisons: []bench.Comparison{{Name: "epoll to the floor", A: "epoll 100.html", Metric: "server_cpu_us_per_request", At: "saturated", Ratio: v(1.2), Lo: v(1.1), Hi: v(1.3), Claimed: &yes}}}
	got := figures([]*bench.Document{{}, d}, "epoll")
	for _, want := range []string{
		"| 100.html, 64 clients, kept connections | 81234 [80000, 82000] | 0.500 | - | - | read 1.00, sendto 1.00, epoll_pwait 0.02 |\n",
		"| epoll to the floor | server cpu us per request, saturated | 1.20 [1.10, 1.30] | shown |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	of := *d
	of.Study = &bench.Study{}
	if got := figures([]*bench.Document{&of}, "epoll"); !strings.Contains(got, "Not yet measured") {
		t.Errorf("a study's cells are shown as the variant's: %s", got)
	}
	if got := figures([]*bench.Document{d}, "poll"); !strings.Contains(got, "Not yet measured") {
		t.Errorf("poll: %s", got)
	}
}

// TestExampleRun: a study's page shows its committed run, taken from a file
// that has the name of all studies' results.
func TestExampleRun(t *testing.T) {
	yes, dir := true, t.TempDir()
	d := &bench.Document{
		Schema: bench.Schema, Name: "ab-2006", Command: []string{"weighstone", "bench", "ab-2006"}, Verdict: bench.Valid,
		Environment: bench.Environment{CPU: "A processor", Cores: 2, Kernel: "Linux 6.18", Facts: map[string]string{"date": "2026-12-01"}},
		Cells:       []bench.Cell{{Name: "a", Runs: []bench.Run{{Requests: 1}}}},
		Study: &bench.Study{Name: "ab-2006", Summary: []string{"It was claimed."}, Conclusions: []bench.Conclusion{
			{Text: "an event loop is ahead", Holds: &yes, Want: "at least 1", Value: bench.Number(1.5), Lo: bench.Number(1.4), Hi: bench.Number(1.6), N: 6, Margin: "a factor of 1.4"},
		}},
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "result.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "results")
	if err := take(path, kept); err != nil {
		t.Fatal(err)
	}
	results, err := readAll(kept)
	if err != nil || len(results) != 1 || results[0].Cells[0].Runs != nil {
		t.Fatalf("%+v, %v", results, err)
	}
	if _, err := os.Stat(filepath.Join(kept, "ab-2006.json")); err != nil {
		t.Error(err)
	}
	got, err := exampleRun(results, "ab-2006")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`weighstone bench ab-2006`, 2026-12-01, on A processor, 2 cores, Linux 6.18; the verdict of the runs is valid.\n\nIt was claimed.\n",
		"| an event loop is ahead | holds | 1.5 [1.4, 1.6] | at least 1 | - | a factor of 1.4 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if none, _ := exampleRun(results, "webstone-1996"); !strings.HasPrefix(none, "Not yet run") {
		t.Errorf("%q", none)
	}
}
