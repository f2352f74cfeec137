package tests

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// run runs a load generator, which must end well, and returns what it says.
func run(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// loaded are the paths that load generators ask for, and how often: from memory,
// made for the request, from disk.
var loaded = []struct{ path, requests string }{
	{"/100.html", "5000"}, {"/index.html", "2000"}, {"/api/hello", "2000"}, {"/api/send?size=1000", "2000"}, {"/silicon-surf/file200k.html", "50"},
}

// perConnection are the variants that start a program for each connection.
var perConnection = []string{"fork", "inetd"}

// TestAB: ab has no failed request with any variant, with and without
// keep-alive. It is an HTTP/1.0 client, and calls it a failure when a reply's
// length differs from the first one's.
func TestAB(t *testing.T) {
	need(t, "ab")
	keptAlive := regexp.MustCompile(`Keep-Alive requests: +(\d+)`)
	onEach(t, func(t *testing.T, variant string) {
		s := serve(t, variant)
		for _, l := range loaded {
			for _, keep := range []bool{true, false} {
				if !keep && slices.Contains(perConnection, variant) {
					l.requests = "100" // programs to start
				}
				args := []string{"-q", "-n", l.requests, "-c", "20"}
				if keep {
					args = append(args, "-k")
				}
				out := run(t, "ab", append(args, "http://"+s.addr+l.path)...)
				for _, want := range []string{"Complete requests:      " + l.requests + "\n", "Failed requests:        0\n"} {
					if !strings.Contains(out, want) {
						t.Errorf("%s, keep-alive %v: no %q in\n%s", l.path, keep, want, out)
					}
				}
				if strings.Contains(out, "Non-2xx") || strings.Contains(out, "Write errors") {
					t.Errorf("%s, keep-alive %v:\n%s", l.path, keep, out)
				}
				kept := "0"
				if rowOf(t, variant).Keepalive {
					kept = l.requests
				}
				if m := keptAlive.FindStringSubmatch(out); keep && (m == nil || m[1] != kept) {
					t.Errorf("%s: not %s requests on kept connections:\n%s", l.path, kept, out)
				}
			}
		}
	})
}

// TestWrk: wrk sees no error with any variant.
func TestWrk(t *testing.T) {
	need(t, "wrk")
	onEach(t, func(t *testing.T, variant string) {
		s := serve(t, variant)
		for _, l := range loaded {
			out := run(t, "wrk", "-t1", "-c16", "-d1s", "http://"+s.addr+l.path)
			if strings.Contains(out, "Socket errors") || strings.Contains(out, "Non-2xx") || !strings.Contains(out, "requests in") || strings.Contains(out, " 0 requests in") {
				t.Errorf("%s:\n%s", l.path, out)
			}
		}
	})
}
