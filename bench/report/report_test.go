package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
)

var update = flag.Bool("update", false, "write the golden files anew")

func num(v float64) *float64 { return &v }

func metric(median, lo, hi float64) *bench.Metric {
	return &bench.Metric{Median: &median, Lo: &lo, Hi: &hi, N: 6}
}

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

// measured is a document with something of everything.
func measured() *bench.Document {
	plan := "silicon-surf-1.x, heavy"
	var api, cgi, few bench.Figures[bench.Metric]
	api.RequestsPerS, api.ThroughputMbitS = metric(9876.4, 9500, 10012), metric(512.3, 500, 520)
	api.LatencyMS.P50, api.LatencyMS.P99, api.LatencyMS.Max = metric(1.61, 1.5, 1.7), metric(4.9, 4, 6), metric(12.04, 10, 30)
	api.ServerCPUMicros, api.ServerCPUPercent, api.ClientCPUPercent = metric(91.2, 90.1, 93.4), metric(90.4, 90, 91), metric(88, 87, 90)
	cgi.RequestsPerS, cgi.ServerCPUMicros = metric(903, 880, 921), metric(1103.2, 1090, 1120)
	cgi.Errors[bench.FaultReset] = 3
	few.RequestsPerS = &bench.Metric{Median: num(1000), N: 1}
	load := bench.Load{Clients: 16, Arrival: "closed", Plan: &plan}
	return &bench.Document{
		Schema: bench.Schema, Command: []string{"weighstone", "bench", "api-vs-cgi"},
		Environment: bench.Environment{
			Kernel: "Linux 6.18.0 x86_64", CPU: "A processor", Cores: 2, Clock: "tsc", Go: "go1.26", Fixtures: "46909b", Container: "virtual machine",
			Facts: map[string]string{"network": "loopback", "server_cores": "[0]", "client_cores": "[1]", "epoll.version": "sha256 0123", "epoll.command": "x"},
		},
		Cells: []bench.Cell{
			{Variant: "epoll", Handler: "api/send", Load: load, Runs: []bench.Run{}, Metrics: api, Verdict: bench.ClientBound, Reasons: []string{"the client's core was 88 % busy"},
				Name: "epoll, heavy: api", Server: &bench.Server[bench.Metric]{UserMicros: metric(20, 19, 21), SystemMicros: metric(71, 70, 73), VoluntarySwitches: metric(.31, .3, .4), RSSBytes: metric(12<<20, 12<<20, 13<<20), Threads: metric(5, 5, 5), EventsPerWait: metric(3.2, 3, 3.5)},
				Syscalls: &bench.Syscalls{PerRequest: map[string]float64{"read": 1, "writev": 1, "epoll_wait": .312, "futex": .001}, Requests: 1000}},
			{Variant: "epoll", Handler: "cgi-bin/send", Load: load, Runs: []bench.Run{}, Metrics: cgi, Verdict: bench.Valid, Reasons: []string{}, Syscalls: &bench.Syscalls{Note: "system calls were not counted: strace is not installed"}},
			{Variant: "poll", Handler: "100.html", Load: bench.Load{Clients: 10, Keepalive: true, Idle: 8000, Arrival: "constant", Rate: num(500)}, Runs: []bench.Run{}, Metrics: few, Verdict: bench.Incomplete, Reasons: []string{}},
		},
		Comparisons: []bench.Comparison{
			{Name: "epoll, heavy: api to cgi", A: "a", B: "b", Metric: "requests_per_s", Ratio: num(10.94), Lo: num(10.5), Hi: num(11.3), P: num(0.002), Published: num(4.476), Agrees: yes(), Source: "IIS"},
			{Name: "epoll, static: the same twice", Metric: "server_cpu_us_per_request", Ratio: num(1.003), Lo: num(.98), Hi: num(1.02), P: num(0.7)},
			{Name: "poll to epoll, 10 active", Metric: "server_cpu_us_per_request", Ratio: num(0.9), Lo: num(.85), Hi: num(.95), P: num(0.01), Published: num(1.4), Agrees: no()},
			{Name: "interrupted", Metric: "requests_per_s", Ratio: num(2.5)},
			{Name: "poll to epoll, at 2,000/s", Metric: "server_cpu_us_per_request", Ratio: num(1.03), Lo: num(1.01), Hi: num(1.05), Claimed: no(), Note: "the same server twice differed by up to a factor of 1.060", How: "unpaired", At: "same offered rate", EventsA: num(1.2), EventsB: num(1.3), EventsOf: "client"},
			{Name: "not begun", Metric: "p99"},
		},
		Verdict:  bench.Incomplete,
		Headline: []string{"over loopback, 6 repetitions (quick: the fewest that have an interval), server on core 0, client on core 1"},
		Design:   &bench.Design{Repetitions: 6, Quick: true, Seed: 7, Order: "shuffled, pairs interleaved"},
		Noise:    []bench.Noise{{Subject: "epoll", Metric: "server_cpu_us_per_request", Ratio: num(1.003), Lo: num(.98), Hi: num(1.02), Spread: num(1.02)}},
		Ceilings: []bench.Ceiling{{Server: "floor", Load: bench.Load{Clients: 64, Keepalive: true}, RequestsPerS: metric(61234, 60000, 62000)}},
		Rankings: []bench.Ranking{{Metric: "requests_per_s", Groups: [][]string{{"epoll api"}, {"epoll cgi", "poll"}}}},
		Reasons:  []string{"ended after 5 of 12 runs: poll (pid 7) ended: exit status 4; its last lines were:\n\tout of luck", "h2o is not installed (Debian package h2o)"},
	}
}

func golden(t *testing.T, name string, write func(io.Writer, *bench.Document) error, d *bench.Document) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	goldenBytes(t, name, b.Bytes())
}

func goldenBytes(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (go test -update writes it anew):\n%s", name, diff)
	}
}

func TestGolden(t *testing.T) {
	golden(t, "measured.txt", Text, measured())
	golden(t, "measured.json", JSON, measured())
	empty := &bench.Document{Schema: bench.Schema, Verdict: bench.Valid}
	golden(t, "empty.txt", Text, empty)
}

func TestJSONReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, measured()); err != nil {
		t.Fatal(err)
	}
	var d bench.Document
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(measured(), &d); diff != "" {
		t.Error(diff)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0123: "0.012", 1.005: "1.00", 12.34: "12.3", 123.4: "123", 1234.4: "1,234", 1234567: "1,234,567", -1234: "-1,234", -123456: "-123,456"} {
		if got := significant(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func steps() []experiment.Progress {
	return []experiment.Progress{
		{Experiment: "floor", Stage: experiment.StageBegin, Total: 12, Left: 83 * time.Second},
		{Experiment: "floor", Stage: experiment.StageProof, Total: 12, Cell: "epoll"},
		{Experiment: "floor", Stage: experiment.StageRun, Total: 12, Cell: "epoll", Left: 80 * time.Second},
		{Experiment: "floor", Stage: experiment.StageRun, Done: 1, Total: 12, Cell: "nginx", Left: 70 * time.Second, Rate: 61234},
		{Experiment: "floor", Stage: experiment.StageEnd, Done: 12, Total: 12},
	}
}

func TestProgressPlain(t *testing.T) {
	var b bytes.Buffer
	clock := time.Unix(0, 0)
	p := &Progress{w: &b, now: func() time.Time { clock = clock.Add(4 * time.Second); return clock }}
	for _, s := range steps() {
		p.Show(s)
	}
	want := "floor: 12 runs, about 1m23s\n" +
		"floor: run 2 of 12, 1m10s left: nginx (the last: 61,234/s)\n" +
		"floor: 12 runs made\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestProgressTerminal(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{w: &b, now: time.Now, terminal: true, width: 40}
	for _, s := range steps() {
		p.Show(s)
	}
	want := "floor: 12 runs, about 1m23s\n" +
		"\r\x1b[Kfloor: epoll shows its answers" +
		"\r\x1b[Kfloor: run 1 of 12, 1m20s left: epoll" +
		"\r\x1b[Kfloor: run 2 of 12, 1m10s left: nginx (" +
		"\r\x1b[Kfloor: 12 runs made\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	for part := range strings.SplitSeq(b.String(), "\r\x1b[K") {
		if len([]rune(strings.TrimSuffix(part, "\n"))) >= 40 {
			t.Errorf("a line is too long: %q", part)
		}
	}
}
