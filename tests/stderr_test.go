package tests

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestAccessLogOnStderr: the processes of a server share its standard error, here
// a pipe, and tear no line there, however long requests are. Each is in the log.
func TestAccessLogOnStderr(t *testing.T) {
	t.Parallel()
	const clients, each = 8, 40
	s := serve(t, "prefork", "--access-log", "-", "--access-log-format", "combined", "--workers", "8")
	page := []byte(fetch(t, s, "GET", "/100.html"))
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			c, err := dial(s.addr, false)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.close()
			for i := range each {
				path := "/100.html?" + strings.Repeat(strconv.Itoa(n), i*190+1)
				if err := c.send(get(path)); err != nil {
					t.Error(err)
					return
				}
				if _, err := c.receive(page); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	s.stop()
	whole := regexp.MustCompile(`^127\.0\.0\.1 - - \[[^]]+\] "GET /100\.html\??(0*|1*|2*|3*|4*|5*|6*|7*)(\.\.\.)? HTTP/1\.1" 200 100 "-" "(-|Go-http-client/1.1)"$`)
	lines := 0
	for _, line := range strings.Split(strings.TrimSpace(s.stderr.String()), "\n") {
		switch {
		case whole.MatchString(line):
			lines++
		case !strings.HasPrefix(line, "time="):
			t.Errorf("a torn line: %.300s", line)
		}
	}
	if want := clients*each + 1; lines != want {
		t.Errorf("%d lines for %d requests", lines, want)
	}
}

// TestManyWorkers: as many workers as there may be can be replaced by as many.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	s := serve(t, "thread-pool", "--workers", "700", "--max-workers", "700")
	old := s.restart()
	s.reap(old)
	if n := status(t, s.addr)["workers"]; n != 700.0 {
		t.Errorf("%v workers, want 700", n)
	}
	s.stop()
}
