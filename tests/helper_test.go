package tests

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// helpersOf finds the CGI helpers that a server has started.
func helpersOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	for _, server := range processes(t, pid) {
		for _, child := range children(t, server) {
			if isHelper(child) {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// TestHelper: a server has one helper, of the first request on; when it is
// killed another takes its place, and nothing is left of either.
func TestHelper(t *testing.T) {
	onFamilies(t, func(t *testing.T, variant string) {
		s := serve(t, variant)
		if pids := helpersOf(t, s.pid); len(pids) > 0 {
			t.Errorf("helpers run before anybody asks: %v", pids)
		}
		crowd := func() {
			var all sync.WaitGroup
			for range 16 { // so that several processes ask, where there are
				all.Go(func() {
					if got := mechanism(t, s.addr, "GET", "/cgi-helper/hello", ""); !strings.HasPrefix(got, "200 ") {
						t.Error(got)
					}
				})
			}
			all.Wait()
		}
		crowd()
		first := helpersOf(t, s.pid)
		if len(first) != 1 {
			t.Fatalf("%d helpers", len(first))
		}
		if err := syscall.Kill(first[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another helper runs", func() bool {
			now := helpersOf(t, s.pid)
			return len(now) == 1 && now[0] != first[0]
		})
		crowd()
		s.childless()
		last := helpersOf(t, s.pid)
		s.stop()
		for _, pid := range last {
			if syscall.Kill(pid, 0) == nil {
				t.Errorf("helper %d outlives its server", pid)
			}
		}
	})
}

// sleepers writes programs that leave their number in pids and sleep.
func sleepers(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range map[string]string{
		"silent": `echo $$ >> pids; exec sleep 600`,
		"begun":  `printf 'Content-Type: text/plain\n\nbegun'; echo $$ >> pids; exec sleep 600`,
		"kill":   `kill -9 $$`,
		"three":  `exit 3`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sleeping waits until n programs have left their numbers.
func sleeping(t *testing.T, dir string, n int) (pids []int) {
	t.Helper()
	eventually(t, "the programs sleep", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "pids"))
		pids = nil
		for _, word := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
		return err == nil && len(pids) == n
	})
	return pids
}

// gone says whether a process has ended: a zombie has.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

// TestHelperEndsWithTheServer: also when the server is killed, with the
// programs.
func TestHelperEndsWithTheServer(t *testing.T) {
	for _, variant := range []string{"epoll", "prefork"} {
		dir := sleepers(t)
		s := serve(t, variant, "--cgi-bin", dir)
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /cgi-helper/silent HTTP/1.1\r\nHost: a\r\n\r\n")
		programs := sleeping(t, dir, 1)
		helpers, all := helpersOf(t, s.pid), processes(t, s.pid)
		s.ended = true
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if len(helpers) != 1 {
			t.Errorf("%d helpers", len(helpers))
		}
		reapKilled(t, s.pid)
		for _, pid := range append(append(all[1:], helpers...), programs...) {
			eventually(t, fmt.Sprintf("pid %d ends with the server", pid), func() bool {
				// Orphans come to this process, but for programs that the helper
				// was in time to reap, and workers that were about to retire.
				syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
				return syscall.Kill(pid, 0) == syscall.ESRCH
			})
		}
	}
}

// TestHelperEndsPrograms: whose client has left, and at the end of the server;
// a reply of one that is killed is not whole.
func TestHelperEndsPrograms(t *testing.T) {
	dir := sleepers(t)
	s := serve(t, "epoll", "--cgi-bin", dir, "--drain", "0s")
	for path, want := range map[string]string{"/cgi-helper/kill": "502 ", "/cgi-helper/three": "500 ", "/cgi-bin/kill": "502 "} {
		if got := mechanism(t, s.addr, "GET", path, ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %s", path, got, want)
		}
	}
	ask := func(path string) net.Conn {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path)
		return c
	}
	ask("/cgi-helper/silent").Close()
	left := sleeping(t, dir, 1)
	eventually(t, "the program of a client that left ends", func() bool { return gone(left[0]) })
	s.childless()
	defer ask("/cgi-helper/begun").Close()
	pids := sleeping(t, dir, 2)
	s.stop()
	eventually(t, "the program ends with the server", func() bool { return gone(pids[1]) })
}

// TestHelperRestart: the successor has a helper of its own, and that of its
// predecessor ends with it.
func TestHelperRestart(t *testing.T) {
	for _, variant := range []string{"epoll", "symped"} {
		s := serve(t, variant)
		mechanism(t, s.addr, "GET", "/cgi-helper/hello", "")
		before := helpersOf(t, s.pid)
		s.reap(s.restart())
		if got := mechanism(t, s.addr, "GET", "/cgi-helper/hello", ""); !strings.HasPrefix(got, "200 ") {
			t.Error(got)
		}
		if len(before) != 1 || syscall.Kill(before[0], 0) == nil {
			t.Errorf("helpers that outlive their server: %v", before)
		}
		if now := helpersOf(t, s.pid); len(now) != 1 {
			t.Errorf("%d helpers", len(now))
		}
		s.stop()
	}
}

// TestHelperLeaksNothing: neither side keeps descriptors of programs that have
// ended, however.
func TestHelperLeaksNothing(t *testing.T) {
	s := serve(t, "epoll", "--cgi-bin", sleepers(t))
	round := func(n int) {
		for range n {
			for _, path := range []string{"hello", "kill", "three"} {
				mechanism(t, s.addr, "GET", "/cgi-helper/"+path, "")
			}
			mechanism(t, s.addr, "POST", "/cgi-helper/mirror", "body")
		}
	}
	round(2)
	server, helper := descriptors(t, s.pid), descriptors(t, helpersOf(t, s.pid)[0])
	round(20)
	eventually(t, "no descriptor is left", func() bool {
		return descriptors(t, s.pid) <= server && descriptors(t, helpersOf(t, s.pid)[0]) <= helper
	})
	s.childless()
}

// descriptors counts those that a process has open.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestProgramsMissing: where the main program is all there is, the routes that
// need others say so, and the log once; and the helper where it is all that is
// missing.
func TestProgramsMissing(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "weighstone")
	if err := os.Link(built.program, alone); err != nil {
		t.Fatal(err)
	}
	programs := func(routes, dir string) string {
		return routes + " need the programs of bin/" + dir + ", which are not here: make build makes them"
	}
	missing := func(s *server, sentence string, routes ...string) {
		for _, route := range routes {
			want := fmt.Sprintf("503 text/plain; charset=utf-8 %d\n%s.\n", len(sentence)+2, sentence)
			if got := mechanism(t, s.addr, "GET", route, ""); got != want {
				t.Errorf("%s: %q, want %q", route, got, want)
			}
		}
		eventually(t, "the log says so", func() bool { return strings.Contains(s.stderr.String(), sentence) })
		if n := strings.Count(s.stderr.String(), sentence); n != 1 {
			t.Errorf("the log says %d times that %s", n, sentence)
		}
	}
	s := serveUnder(t, []string{"sh", "-c", `shift; exec "$0" "$@"`, alone}, "epoll")
	missing(s, programs("/cgi-bin/ and /cgi-helper/", "cgi"), "/cgi-bin/hello", "/cgi-helper/hello")
	missing(s, programs("/fcgi-bin/ and /scgi-bin/", "fcgi"), "/fcgi-bin/hello", "/scgi-bin/hello")
	missing(s, programs("/hello.php and /phpinfo.php", "php"), "/hello.php", "/phpinfo.php")
	missing(s, programs("/hello.pl and /perl/", "perl"), "/hello.pl", "/perl/hello.pl")

	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "one"), []byte("#!/bin/sh\necho Content-Type: text/plain; echo; echo one\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s = serveUnder(t, []string{"sh", "-c", `shift; exec "$0" "$@"`, alone}, "epoll", "--cgi-bin", own)
	if got := mechanism(t, s.addr, "GET", "/cgi-bin/one", ""); !strings.HasPrefix(got, "200 ") || !strings.HasSuffix(got, "\none\n") {
		t.Errorf("a program of the user's: %q", got)
	}
	missing(s, "/cgi-helper/ needs weighstone-helper, which is not here: make build makes it", "/cgi-helper/one")
	out, err := exec.Command(alone, "variants", "epoll").Output()
	if err != nil || !strings.Contains(string(out), programs("/cgi-bin/ and /cgi-helper/", "cgi")) {
		t.Errorf("variants does not say so, error %v:\n%s", err, out)
	}
}

// TestBallast: what a server is to hold it has touched, and answers all the
// same.
func TestBallast(t *testing.T) {
	const held = 96 << 20
	s := serve(t, "epoll", "--ballast", "96MiB")
	if n := peakMemory(t, s.pid); n < held {
		t.Errorf("the server holds %d bytes, want %d", n, held)
	}
	if got := mechanism(t, s.addr, "GET", "/cgi-helper/hello", ""); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if n := peakMemory(t, helpersOf(t, s.pid)[0]); n > held/4 {
		t.Errorf("the helper took %d bytes", n)
	}
}
