package tests

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAccel: repeated requests are answered from the cache and counted so; a
// POST never is, however often it repeats a GET that was (a cache in the kernel
// that answered one POST twice is on record, from 2001).
func TestAccel(t *testing.T) {
	s := serve(t, "accel")
	count := func(name string) int { return int(status(t, s.addr)[name].(float64)) }
	for range 50 {
		fetch(t, s, "GET", "/api/hello")
	}
	if n := count("cached"); n != 49 {
		t.Errorf("%d of 50 requests answered from the cache, want 49", n)
	}
	before := count("requests")
	for range 20 {
		fetch(t, s, "POST", "/api/hello")
	}
	if n, all := count("cached"), count("requests"); n != 49 || all != before+20+2 { // the status itself, twice
		t.Errorf("after 20 POSTs, %d answered from the cache of %d requests, want 49 of %d", n, all, before+22)
	}
	if err := syscall.Kill(s.pid, syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cache is emptied", func() bool { return strings.Contains(s.stderr.String(), "the cache of replies is empty") })
	fetch(t, s, "GET", "/api/hello")
	if n := count("cached"); n != 49 {
		t.Errorf("%d answered from the cache, want 49: it was emptied", n)
	}
	fetch(t, s, "GET", "/api/hello")
	if n := count("cached"); n != 50 {
		t.Errorf("%d answered from the cache, want 50: it was filled again", n)
	}
}

// TestAccelSeesChanges: a file that changes is served as it is a moment later,
// and as it was never again.
func TestAccelSeesChanges(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "page.txt")
	write := func(text string) {
		if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	write("version 0")
	s := serve(t, "accel", "--root", root)
	fetch(t, s, "GET", "/page.txt")
	for _, next := range []string{"version 1", "version 2"} {
		before := status(t, s.addr)["cached"].(float64)
		write(next)
		eventually(t, next, func() bool { return fetch(t, s, "GET", "/page.txt") == next })
		for range 100 {
			if got := fetch(t, s, "GET", "/page.txt"); got != next {
				t.Fatalf("%q after %q", got, next)
			}
		}
		if after := status(t, s.addr)["cached"].(float64); after < before+50 {
			t.Errorf("%v of more than 100 requests answered from the cache", after-before)
		}
	}
}

// eventually waits until ok, as long as patience lasts.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// fetch asks for a path and returns the body of the reply, which must be 200.
func fetch(t *testing.T, s *server, method, path string) string {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+s.addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: status %d, %v", method, path, res.StatusCode, err)
	}
	return string(b)
}
