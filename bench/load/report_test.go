package load

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/bench/tally"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-update writes it anew):\n%s", name, d)
	}
}

// made is a result of n good replies in a second, and of some bad ones.
func made(n int, faults ...bench.Fault) *Result {
	r := &Result{
		Config:  Config{URL: "http://127.0.0.1:8080/100.html", Clients: 4, Pipeline: 1, Workers: 2, Keepalive: true},
		Network: "loopback",
		Elapsed: time.Second, Classes: []bench.Class{{Name: "/100.html", Weight: 1}},
		Tally:       tally.New(tally.Config{Classes: 1}),
		Connections: 4, ClosedByClient: 4, CPUUser: 200 * time.Millisecond, CPUSystem: 400 * time.Millisecond, CPUGiven: 2 * time.Second,
		Waits: 100, Events: 250,
	}
	for i := range n {
		s := bench.Sample{Due: time.Duration(i) * time.Second / time.Duration(n), Last: 3950*time.Microsecond + time.Duration(i%100)*time.Microsecond, BytesIn: 340, Body: 100, Status: 200}
		if i < 4 {
			s.Connected = 200 * time.Microsecond
		}
		r.Tally.Add(&s)
	}
	for _, f := range faults {
		r.Tally.Add(&bench.Sample{Last: time.Millisecond, Status: 404, Fault: f})
		r.Offence = &Offence{Fault: f, At: time.Millisecond, Request: "GET /100.html", Status: 404, Got: 14, Want: 100, Excerpt: []byte("HTTP/1.1 404 Not Found\r\nServer: x\r\n")}
	}
	return r
}

func TestWriteText(t *testing.T) {
	refused := made(0, bench.FaultRefused)
	refused.Offence.Status, refused.Offence.Excerpt, refused.Offence.Errno = 0, nil, unix.ECONNREFUSED
	refused.Tally.Status[404] = 0
	open := made(1000)
	open.Config.Arrival = pace.Arrival{Kind: pace.Constant, Rate: 1200}
	open.Config.ConnectAhead, open.Config.ReadRate, open.Config.CPUs = 8, 10000, nil
	open.Dropped, open.Sources, open.MostPerSource, open.Ports.Range = 200, 3, 334, 28232
	open.Tally.Late, open.Tally.Lagged = 12, 3
	open.Classes = []bench.Class{{Name: "/a", Weight: 1}, {Name: "/b", Weight: 1, Dynamic: true}}
	open.Tally.Classes = []uint64{520, 480}
	open.Seconds = []Second{
		{From: 0, To: time.Second, Good: 480, P50: 4 * time.Millisecond, P99: 5 * time.Millisecond, Max: 6 * time.Millisecond},
		{From: time.Second, To: 2 * time.Second, Good: 520, P50: 4 * time.Millisecond, P99: 7 * time.Millisecond, Max: 8 * time.Millisecond},
		{From: 2 * time.Second, To: 2*time.Second + 1},
	}
	refused.Config.Keepalive, refused.Config.HTTP10, refused.Config.Idle, refused.IdleOpened = false, true, 100, 100
	for name, r := range map[string]*Result{
		"good.txt":    made(1000),
		"few.txt":     made(12),
		"wrong.txt":   made(1000, bench.FaultStatus, bench.FaultLength),
		"refused.txt": refused,
		"open.txt":    open,
	} {
		var b bytes.Buffer
		if err := WriteText(&b, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestWriteLadder(t *testing.T) {
	var b bytes.Buffer
	next := made(1000, bench.FaultReset)
	next.Config.Clients = 8
	if err := WriteText(&b, made(12), next); err != nil {
		t.Fatal(err)
	}
	golden(t, "ladder.txt", b.Bytes())
}

func TestDocument(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(Document([]string{"weighstone", "load"}, bench.Environment{Kernel: "6.1", Cores: 2}, made(1000, bench.FaultReset))); err != nil {
		t.Fatal(err)
	}
	golden(t, "result.json", b.Bytes())
	var d bench.Document
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Cells[0].Metrics.Errors[bench.FaultReset] != 1 || *d.Cells[0].Metrics.RequestsPerS.Median != 1000 {
		t.Errorf("%+v", d.Cells[0].Metrics)
	}
}

// TestVerdict has each reason to doubt a result come alone.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Result)
		want  bench.Verdict
	}{
		"nothing":     {func(*Result) {}, bench.Valid},
		"busy client": {func(r *Result) { r.CPUSystem = 1300 * time.Millisecond }, bench.ClientBound},
		"hemmed in":   {func(r *Result) { r.CPUWaited = 1200 * time.Millisecond }, bench.ClientBound},
		"waits a bit": {func(r *Result) { r.CPUWaited = 1100 * time.Millisecond }, bench.Valid},
		"starved":     {func(r *Result) { r.CPUUser, r.CPUSystem, r.CPUWaited = 0, 0, 1201*time.Millisecond }, bench.ClientBound},
		"little":      {func(r *Result) { r.Elapsed = 2 * time.Second }, bench.ClientBound},
		"thinking":    {func(r *Result) { r.Elapsed = 2 * time.Second; r.Config.Arrival.Think = time.Millisecond }, bench.Valid},
		"no ports":    {func(r *Result) { r.Tally.Faults[bench.FaultLocal] = 1 }, bench.ClientBound},
		"ports": {func(r *Result) {
			r.Tally.Faults[bench.FaultLocal], r.NoPort, r.Sources, r.Ports.Range = 1, 1, 1, 1000
		}, bench.ClientBound},
		"lag":        {func(r *Result) { r.Config.Arrival.Kind, r.Tally.Lagged = pace.Poisson, 11 }, bench.ClientBound},
		"drops":      {func(r *Result) { r.Dropped = 11 }, bench.ClientBound},
		"few drops":  {func(r *Result) { r.Dropped = 10 }, bench.Valid},
		"little lag": {func(r *Result) { r.Config.Arrival.Kind, r.Tally.Lagged = pace.Poisson, 10 }, bench.Valid},
		"resets":     {func(r *Result) { r.Tally.Faults[bench.FaultReset] = 1 }, bench.Valid},
		"two resets": {func(r *Result) { r.Tally.Faults[bench.FaultReset] = 2 }, bench.Incomplete},
		"two causes": {func(r *Result) {
			r.Tally.Faults[bench.FaultRefused], r.Tally.Faults[bench.FaultTimeout] = 1, 1
		}, bench.Incomplete},
		"stray bytes": {func(r *Result) { r.Stray = 1 }, bench.RepliesWrong},
		"sent again":  {func(r *Result) { r.Stale = 1 }, bench.Valid},
		"many again":  {func(r *Result) { r.Stale = 2 }, bench.Incomplete},
		"too late":    {func(r *Result) { r.Tally.Done = 0 }, bench.Incomplete},
		"wrong":       {func(r *Result) { r.Tally.Faults[bench.FaultContent] = 1; r.Interrupted = true }, bench.RepliesWrong},
		"interrupted": {func(r *Result) { r.Interrupted = true }, bench.Incomplete},
	} {
		r := made(1000)
		c.spoil(r)
		got, reasons := r.Verdict()
		if got != c.want || (len(reasons) == 0) != (got == bench.Valid) {
			t.Errorf("%s: %s %v, want %s", name, got, reasons, c.want)
		}
	}
}
