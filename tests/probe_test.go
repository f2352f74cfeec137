package tests

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const probe = "probe/h1probe.py"

// A deviation is what a variant does otherwise than the kit's strictest
// expectation.
type deviation struct {
	outcome string // "vary": the RFC allows it too; "fail": it does not
	why     string
}

// deviations are exact: what is here must be seen, and nothing else may be. No
// variant that keeps connections may have more than ten that fail, and the event
// loops none.
func deviations(variant string) map[string]deviation {
	known := map[string]deviation{}
	switch variant {
	case "nethttp":
		known["CH-ext-bws"] = deviation{"vary", "white space before a chunk extension is refused (net/http/internal/chunked.go, parseHexUint)"}
	case "fasthttp", "fiber":
		known["CH-ext-bws"] = deviation{"vary", "white space before a chunk extension is refused (fasthttp 1.78.0, http.go:3439)"}
		known["CH-trailer-framing"] = deviation{"vary", "a trailer that names a framing field is refused (fasthttp 1.78.0, header.go:3385)"}
	case "prefork", "fork", "inetd":
		known["RB-idle-conns"] = deviation{"fail", "an idle connection holds a process: when there are as many as there may be, others wait in the queue until the idle limit"}
	case "thread-pool", "acceptor-queue":
		known["RB-idle-conns"] = deviation{"fail", "an idle connection holds a thread of the pool: others wait in the queue until the idle limit"}
	case "iterative":
		const once = "the connection is closed behind its first reply, as it says"
		for _, id := range strings.Fields("CH-basic CH-hex-case CH-zeros CH-ext CH-ext-quoted CH-ext-bws CH-trailer CH-trailer-framing ME-head KA-pipeline KA-pipeline-split KA-half-close-3 KA-bad-last ST-sizes") {
			known[id] = deviation{"fail", once}
		}
		for _, id := range strings.Fields("CL-get-body TE-get-body CL-404-body KA-default KA-10-keepalive KA-crlf-between KA-pipeline-mixed ST-404") {
			known[id] = deviation{"vary", once}
		}
		for _, id := range strings.Fields("KA-pipeline-deaf KA-slow-isolated RB-idle-conns") {
			known[id] = deviation{"fail", "one connection is served at a time: others wait in the queue until its limits end it"}
		}
	}
	return known
}

// outcome is one case in the kit's report.
type outcome struct{ ID, Title, Expect, Outcome, Note string }

// runProbe runs the kit against a server and returns the cases.
func runProbe(t *testing.T, s *server, fixture string, flags ...string) []outcome {
	t.Helper()
	args := append([]string{probe, "--port", s.port(), "--fixture", fixture, "--echo", "/api/mirror",
		"--pid", strconv.Itoa(s.pid), "--json"}, flags...)
	out, err := exec.Command("python3", args...).Output()
	var report struct{ Cases []outcome }
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("the kit: %v, %v\n%.1000s", err, jsonErr, out)
	}
	return report.Cases
}

// TestProbe runs the acceptance kit against every variant: all cases but those
// of slow clients, and then these, with limits that do not take long.
func TestProbe(t *testing.T) {
	need(t, "python3")
	fixture := t.TempDir()
	if out, err := exec.Command("python3", probe, "--make-fixture", fixture).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const slow = "RB-slowloris,RB-slow-body,RB-idle-timeout"
	onFamilies(t, func(t *testing.T, variant string) {
		limits := []string{"--root", fixture + "/www", "--header-timeout", "8s", "--body-timeout", "8s", "--idle-timeout", "10s"}
		var cases []outcome
		apart := func(ids string, flags ...string) string {
			s := serve(t, variant, limits...)
			cases = append(cases, runProbe(t, s, fixture, append(flags, "--only", ids)...)...)
			s.stop()
			return "," + ids
		}
		skip := slow
		if slices.Contains(perConnection, variant) {
			skip += apart("RB-idle-conns") // these stay in the queue, each a program to start
			skip += apart("RB-rst-storm,RB-churn,ST-parallel", "--timeout", "30")
		}
		jobs := "8"
		if variant == "iterative" { // the others of eight would wait for one that sends half a request
			jobs = "1"
		}
		s := serve(t, variant, limits...)
		cases = append(cases, runProbe(t, s, fixture, append(idleConns(t, variant), "--jobs", jobs, "--skip", skip)...)...)
		s.stop()
		s = serve(t, variant, "--root", fixture+"/www", "--header-timeout", "2s", "--body-timeout", "2s", "--idle-timeout", "2s")
		cases = append(cases, runProbe(t, s, fixture, "--only", slow, "--slow-limit", "25")...)
		judge(t, variant, cases)
	})
}

// idleConns keeps the kit's idle connections below the number that a variant can
// hold, if there is one: with room for eight that ask meanwhile.
func idleConns(t *testing.T, variant string) []string {
	t.Helper()
	out, err := exec.Command(built.program, "variants", variant, "--json").Output()
	var row struct {
		MaxConns int `json:"max_conns"`
	}
	if err == nil {
		err = json.Unmarshal(out, &row)
	}
	if err != nil {
		t.Fatal(err)
	}
	if row.MaxConns == 0 {
		return nil
	}
	return []string{"--idle-conns", strconv.Itoa(row.MaxConns * 9 / 10)}
}

// judge compares the outcomes with what is known of the variant.
func judge(t *testing.T, variant string, cases []outcome) {
	t.Helper()
	known, failures := deviations(variant), 0
	for _, c := range cases {
		want := "pass"
		if d, ok := known[c.ID]; ok {
			want = d.outcome
			delete(known, c.ID)
		}
		if want == "fail" {
			failures++
		}
		if c.Outcome != want {
			t.Errorf("%s %s: %s, want %s; expected was %s; %s", c.ID, c.Title, c.Outcome, want, c.Expect, c.Note)
		}
	}
	for id := range known {
		t.Errorf("%s was not among the %d cases", id, len(cases))
	}
	if failures > 10 && rowOf(t, variant).Keepalive || failures > 0 && slices.Contains(loops, variant) {
		t.Errorf("%d cases are expected to fail", failures)
	}
	if len(cases) < 280 {
		t.Errorf("%d cases were run, of 283", len(cases))
	}
}
