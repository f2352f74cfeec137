package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestFaultsAsJSON(t *testing.T) {
	var f Faults
	f[FaultNone], f[FaultReset], f[FaultContent] = 100, 2, 3
	b, err := json.Marshal(f)
	want := `{"refused":0,"reset":2,"timeout":0,"short":0,"malformed":0,"status":0,"length":0,"content":3,"local":0}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	var back Faults
	if err := json.Unmarshal(b, &back); err != nil || back[FaultReset] != 2 || back.Total() != 5 || back.Wrong() != 3 {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"gremlin":1}`), &back); err == nil {
		t.Error("an unknown fault was accepted")
	}
}

func TestVerdicts(t *testing.T) {
	order := []Verdict{Valid, Noisy, ClientBound, Incomplete, RepliesWrong}
	for i, v := range order {
		for k, w := range order {
			if got := v.Worse(w); got != order[max(i, k)] {
				t.Errorf("%s and %s: %s", v, w, got)
			}
		}
		if v.Failed() != (i >= 3) {
			t.Errorf("%s: failed %v", v, v.Failed())
		}
	}
	if got := Verdict("").Worse(""); got != Valid {
		t.Errorf("nothing is %q", got)
	}
}

// TestDocumentKeys holds the document against the published form: every
// metric is there, null when nothing is known.
func TestDocumentKeys(t *testing.T) {
	b, err := json.Marshal(Document{Schema: Schema, Cells: []Cell{{}}, Comparisons: []Comparison{{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"schema":"weighstone/1"`, `"load":{"clients":0,"keepalive":false,"arrival":"","rate":null,"plan":null`,
		`"requests_per_s":null,"connections_per_s":null,"throughput_mbit_s":null,"latency_ms":{"p50":null,"p90":null,"p99":null,"p999":null,"max":null,"mean":null}`,
		`"errors_per_s":null,"errors":{"refused":0,`, `"little":null,"server_cpu_percent":null,"server_cpu_us_per_request":null,"client_cpu_percent":null,"events_per_wait":null,"network_percent":null`,
		`"ratio":null,"lo":null,"hi":null,"p":null,"published":null,"agrees":null`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Number(v) != nil {
			t.Errorf("%v is a number", v)
		}
	}
	if v := Number(0); v == nil || *v != 0 {
		t.Error("0 is none")
	}
}

func TestClosedPacer(t *testing.T) {
	p := Closed{Think: 5 * time.Millisecond}
	for done, want := range map[time.Duration]time.Duration{0: 0, time.Second: time.Second + 5*time.Millisecond} {
		if at, more := p.Due(7, done); at != want || !more {
			t.Errorf("done at %v: due at %v, %v", done, at, more)
		}
	}
}

// TestTooManyFailed: of a thousand exchanges one may fail, by all causes
// together; wrong replies and the client's own failures aren't meant.
func TestTooManyFailed(t *testing.T) {
	for _, c := range []struct {
		faults Faults
		good   uint64
		want   bool
	}{
		{Faults{FaultReset: 1}, 999, false},
		{Faults{FaultReset: 1}, 998, true},
		{Faults{FaultReset: 1, FaultShort: 1}, 1500, true},
		{Faults{FaultStatus: 500, FaultLocal: 500}, 500, false},
		{Faults{}, 0, false},
	} {
		if got := c.faults.TooManyFailed(c.good); got != c.want {
			t.Errorf("%v of %d good: %v", c.faults, c.good, got)
		}
	}
}
