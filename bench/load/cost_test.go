//go:build !race

package load

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCostBesideOtherTools: a request costs at most 1.3 times the CPU that it
// costs wrk, which checks no lengths, and less than half of hey's; side by
// side against the same server, in the median of three rounds.
// (The race detector would make it dearer.)
func TestCostBesideOtherTools(t *testing.T) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		cannot(t, "%v", err)
	}
	hey, err := exec.LookPath("hey")
	if err != nil {
		cannot(t, "%v", err)
	}
	url := serveProcess(t, ok(strings.Repeat("x", 100)))
	var toWrk, toHey []float64
	for range 3 {
		r := runs(t, url, Config{Duration: 500 * time.Millisecond, Clients: 64, Workers: 1, Keepalive: true})
		own := float64(r.CPUUser+r.CPUSystem) / float64(r.Good())
		w := costOf(t, `(\d+) requests in`, wrk, "-t1", "-c64", "-d1s", url)
		h := costOf(t, `\[200\]\s+(\d+) responses`, hey, "-n", "6400", "-c", "64", url)
		t.Logf("CPU a request: %.1f us, wrk %.1f us, hey %.1f us", own/1e3, w/1e3, h/1e3)
		toWrk, toHey = append(toWrk, own/w), append(toHey, own/h)
	}
	slices.Sort(toWrk)
	slices.Sort(toHey)
	if toWrk[1] > 1.3 || toHey[1] >= 0.5 {
		t.Errorf("a request costs %.2f times what it costs wrk, and %.2f times hey's", toWrk[1], toHey[1])
	}
}

// costOf runs a tool and returns its CPU time in ns a request.
func costOf(t *testing.T, requests, name string, args ...string) float64 {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m := regexp.MustCompile(requests).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s said:\n%s", name, out)
	}
	n, _ := strconv.ParseFloat(string(m[1]), 64)
	return float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / n
}
