package published

import (
	"math"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	for name, rows := range map[string]int{
		"ab-2006": 8, "litespeed-2005": 10, "litespeed-2005-tests": 7, "poll-epoll-lighttpd": 18,
		"specweb99-2001": 15, "webstone-1996-shiloh": 608, "webstone-1997-mindcraft": 13, "webstone-1997-mindcraft-ladder": 26,
	} {
		got, err := Table(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != rows {
			t.Errorf("%s: %d rows, want %d", name, len(got), rows)
		}
		if !strings.Contains(About(), name+".csv") {
			t.Errorf("the README does not explain %s", name)
		}
	}
	if len(Names()) != 8 {
		t.Errorf("tables: %q", Names())
	}
	if _, err := Table("nothing"); err == nil || !strings.Contains(err.Error(), "webstone-1996-shiloh") {
		t.Errorf("unknown table: %v", err)
	}
}

func TestAPIOverCGI(t *testing.T) {
	for _, c := range []struct {
		server, mix string
		want        float64
	}{
		{"iis", "light", 2.7}, {"iis", "medium", 3.5}, {"iis", "heavy", 4.5},
		{"netsite", "light", 1.1}, {"netsite", "medium", 0.9}, {"netsite", "heavy", 1.7},
	} {
		got, ok := APIOverCGI(c.server, c.mix)
		if !ok || math.Abs(got.Value-c.want) > 0.05 {
			t.Errorf("%s %s: %+v, want %v", c.server, c.mix, got, c.want)
		}
	}
	if _, ok := APIOverCGI("iis", "static"); ok {
		t.Error("there is a ratio for the static mix")
	}
}

func TestPollOverEpoll(t *testing.T) {
	for _, c := range []struct {
		clients, idle int
		low, high     float64
	}{
		{10, 0, 1, 1}, {100, 0, 1, 1}, {1000, 0, 1, 1}, {10, 1000, 2.4, 2.8}, {100, 1000, 1, 1}, {10, 8000, 30, 38}, {100, 8000, 4.4, 7},
	} {
		got, ok := PollOverEpoll(c.clients, c.idle)
		if !ok || got.Value < c.low || got.Value > c.high || got.Source == "" {
			t.Errorf("%d active, %d idle: %+v, want %v to %v", c.clients, c.idle, got, c.low, c.high)
		}
	}
	if _, ok := PollOverEpoll(7, 7); ok {
		t.Error("a ratio for a setting that nobody measured")
	}
}

func TestFilesOverDatabase(t *testing.T) {
	for clients, want := range map[int]float64{4: 87.0 / 41, 8: 93.0 / 40, 12: 93.0 / 39, 16: 92.0 / 37, 20: 89.0 / 35, 24: 84.0 / 35} {
		if got, ok := FilesOverDatabase(clients); !ok || math.Abs(got.Value-want) > 1e-9 || got.Value < 2.1 || got.Value > 2.6 || got.Source == "" {
			t.Errorf("%d clients: %+v, want %v", clients, got, want)
		}
	}
	if _, ok := FilesOverDatabase(30); ok {
		t.Error("a ratio for a load at which only one server of files was measured")
	}
}

// The misprint of ab 2.0.55 is mended in the table: time times rate gives the
// number of requests.
func TestTimesOf2006(t *testing.T) {
	for _, r := range mustTable("ab-2006") {
		took, _ := r.Number("time_s")
		rate, _ := r.Number("requests_per_s")
		n, _ := r.Number("requests")
		if math.Abs(took*rate-n) > 0.001*n {
			t.Errorf("%s: %v s at %v/s are not %v requests", r["server"], took, rate, n)
		}
	}
}
