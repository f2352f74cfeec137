package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

func facts() Facts {
	st := weighstone.Stats{Accepted: 11, Requests: 13, Responses: [6]uint64{2: 9, 4: 4}, BytesSent: 1 << 40, Waits: 5, Events: 9, Workers: 2}
	st.Conns[weighstone.StateIdle], st.Conns[weighstone.StateWrite] = 7, 1
	return Facts{Variant: "epoll", Restarts: 3, Crashes: 5, Stats: st}
}

// start serves operators until the test's end.
func start(t *testing.T, serving func() bool) (base string) {
	t.Helper()
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(fd, Options{Facts: facts, Serving: serving})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		sys.Close(fd)
	})
	return "http://" + sys.LocalAddr(fd).String()
}

func get(t *testing.T, url string, want int) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode != want {
		t.Errorf("%s: status %d, want %d", url, reply.StatusCode, want)
	}
	return string(body)
}

func TestAdmin(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("served", func(t *testing.T) {
		var draining atomic.Bool
		base := start(t, func() bool { return !draining.Load() })
		if got := get(t, base+"/health", 200); got != "ok\n" {
			t.Errorf("health: %q", got)
		}
		draining.Store(true)
		if got := get(t, base+"/health", 503); got != "draining\n" {
			t.Errorf("health: %q", got)
		}
		metrics := get(t, base+"/metrics", 200)
		for _, want := range []string{
			`weighstone_info{variant="epoll"} 1`, `weighstone_connections{state="idle"} 7`, `weighstone_connections{state="linger"} 0`,
			`weighstone_requests_total 13`, `weighstone_responses_total{class="4xx"} 4`, fmt.Sprintf("weighstone_sent_bytes_total %g", float64(1<<40)),
			`weighstone_restarts_total 3`, `weighstone_crashes_total 5`, "go_goroutines ", "process_cpu_seconds_total ",
		} {
			if !strings.Contains(metrics, "\n"+want) {
				t.Errorf("no %q in\n%s", want, metrics)
			}
		}
		if got := get(t, base+"/debug/pprof/goroutine?debug=1", 200); !strings.Contains(got, "goroutine profile") {
			t.Errorf("profile: %.100q", got)
		}
		get(t, base+"/", 404)
	})
}

func TestMetricsAreWellNamed(t *testing.T) {
	problems, err := testutil.CollectAndLint(newCollector(facts))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
