package tests

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// mechanisms are the ways to the same programs.
var mechanisms = []string{"/api/", "/cgi-bin/", "/cgi-helper/", "/fcgi-bin/", "/scgi-bin/"}

// TestMechanisms: on every variant the sample programs give the same bytes
// through every mechanism, but for what names it, and nothing of them is left.
func TestMechanisms(t *testing.T) {
	asked := []struct{ method, path, body string }{
		{"GET", "hello", ""}, {"HEAD", "hello", ""}, {"GET", "send", ""}, {"GET", "send?size=0", ""}, {"GET", "send?size=300000", ""},
		{"GET", "send?size=x", ""}, {"HEAD", "send?size=100000", ""}, {"GET", "mirror", ""}, {"POST", "mirror", "some body"},
		{"POST", "mirror", strings.Repeat("x", 200_000)}, {"GET", "echo?a=b", ""}, {"GET", "echo/p%20q?a", ""}, {"POST", "echo", ""}, {"POST", "echo", "some body"},
	}
	onEach(t, func(t *testing.T, variant string) {
		s := serve(t, variant, "--fcgi-workers", "2")
		for _, a := range asked {
			want := mechanism(t, s.addr, a.method, mechanisms[0]+a.path, a.body)
			for _, at := range mechanisms[1:] {
				if got := mechanism(t, s.addr, a.method, at+a.path, a.body); got != want {
					t.Errorf("%s %s%s, %d bytes of body:\n%.600s\nin process:\n%.600s", a.method, at, a.path, len(a.body), got, want)
				}
			}
		}
		for _, at := range mechanisms[1:] {
			if got := mechanism(t, s.addr, "GET", at+"constant", ""); !regexp.MustCompile(`(?s)^200 text/html 162\n.{162}$`).MatchString(got) {
				t.Errorf("%sconstant: %q", at, got)
			}
		}
		started := childrenOf(s.pid)
		s.stop()
		for _, pid := range started {
			if syscall.Kill(pid, 0) == nil {
				t.Errorf("worker %d outlives its server", pid)
			}
		}
	})
}

// TestScripts: the scripts of PHP and Perl are answered by every way of running
// them.
func TestScripts(t *testing.T) {
	need(t, "php-cgi")
	need(t, "perl")
	onEach(t, func(t *testing.T, variant string) {
		for _, by := range []string{"cgi", "fastcgi"} {
			s := serve(t, variant, "--php", by, "--perl", by)
			for range 2 {
				if got := mechanism(t, s.addr, "GET", "/hello.php", ""); !regexp.MustCompile(`^200 text/html; ?charset=UTF-8 \d+\nhello world$`).MatchString(got) {
					t.Errorf("/hello.php by %s: %q", by, got)
				}
				want := mechanism(t, s.addr, "GET", "/api/hello", "")
				for _, path := range []string{"/hello.pl", "/cgi-bin/hello.pl", "/perl/hello.pl"} {
					if got := mechanism(t, s.addr, "GET", path, ""); got != want {
						t.Errorf("%s by %s: %q", path, by, got)
					}
				}
			}
			if got := mechanism(t, s.addr, "GET", "/phpinfo.php", ""); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, "phpinfo()") {
				t.Errorf("/phpinfo.php by %s: %.300q", by, got)
			}
			want := mechanism(t, s.addr, "POST", "/api/echo/x?y", "body")
			for _, at := range []string{"/perl/", "/cgi-bin/"} {
				if got := mechanism(t, s.addr, "POST", at+"echo.pl/x?y", "body"); got != want {
					t.Errorf("%secho.pl: %q, want %q", at, got, want)
				}
			}
			s.stop()
		}
	})
}

// TestMissingInterpreter: the routes say so, and the log once.
func TestMissingInterpreter(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := serve(t, "epoll")
	for _, path := range []string{"/hello.php", "/phpinfo.php", "/hello.pl", "/perl/hello.pl"} {
		if got := mechanism(t, s.addr, "GET", path, ""); !strings.HasPrefix(got, "503 text/plain; charset=utf-8 ") || !strings.Contains(got, "which is not here: the Debian package p") {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, args := range [][]string{{"variants"}, {"variants", "--json"}, {"variants", "epoll"}, {"variants", "epoll", "--json"}, {"peers"}} {
		out, err := exec.Command(built.program, args...).Output()
		for _, brings := range []string{"php-cgi", "perl"} {
			if want := "Debian package " + brings; err != nil || !strings.Contains(string(out), want) {
				t.Errorf("weighstone %s does not say %q, error %v:\n%.2000s", strings.Join(args, " "), want, err, out)
			}
		}
	}
	if log := s.stderr.String(); strings.Count(log, "the Debian package php-cgi brings it") != 1 || strings.Count(log, "the Debian package perl brings it") != 1 {
		t.Errorf("the log: %s", log)
	}
}

// TestFoundInterpreter: variants finds the interpreters that serve finds.
func TestFoundInterpreter(t *testing.T) {
	need(t, "php-cgi")
	need(t, "perl")
	for _, args := range [][]string{{"variants"}, {"variants", "--json"}, {"variants", "epoll"}, {"variants", "epoll", "--json"}} {
		out, err := exec.Command(built.program, args...).Output()
		if err != nil || len(out) == 0 || strings.Contains(string(out), "not here: the Debian package") {
			t.Errorf("weighstone %s, error %v:\n%.2000s", strings.Join(args, " "), err, out)
		}
	}
}

// naming are the lines of an echo that name the mechanism, or its connection.
var naming = regexp.MustCompile(`(?m)^(SCRIPT_NAME|SCRIPT_FILENAME|GATEWAY_INTERFACE|PATH_TRANSLATED|REQUEST_URI|DOCUMENT_ROOT|REMOTE_PORT)=.*\n`)

// mechanism asks, and describes what must not depend on the mechanism. The
// length of a page is told to HEAD by programs that print it at once, which a
// busy machine may not let them: such a request is made again.
func mechanism(t *testing.T, addr, method, path, body string) (got string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		var length int64
		got, length = mechanismOnce(t, addr, method, path, body)
		if method != "HEAD" || length >= 0 || got == "" || time.Now().After(end) {
			return got
		}
	}
}

func mechanismOnce(t *testing.T, addr, method, path, body string) (got string, announced int64) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return "", 0
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return "", 0
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return "", 0
	}
	// A program's reply that does not come at once is sent in chunks, as it comes.
	length := strconv.Itoa(len(b))
	if method == "HEAD" {
		length = strconv.FormatInt(res.ContentLength, 10)
	} else if res.ContentLength >= 0 && res.ContentLength != int64(len(b)) {
		t.Errorf("%s %s: %d bytes, announced as %d", method, path, len(b), res.ContentLength)
	}
	if strings.Contains(path, "/echo") {
		b, length = naming.ReplaceAll(b, nil), ""
	}
	return fmt.Sprintf("%d %s %s\n%s", res.StatusCode, res.Header.Get("Content-Type"), length, b), res.ContentLength
}

// childrenOf finds what a process has started and runs.
func childrenOf(parent int) (pids []int) {
	lists, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := bytes.Cut(b, []byte(") "))
		fields := strings.Fields(string(rest))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(list))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// workersOf waits until a server's four workers are there: the first reply comes
// from the first of them that is ready, the others may yet have to be started.
func workersOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	eventually(t, "four workers run", func() bool {
		pids = childrenOf(parent)
		return len(pids) == 4
	})
	return pids
}

// TestWorkersEndWithTheServer: also when it is killed they don't outlive it.
func TestWorkersEndWithTheServer(t *testing.T) {
	s := serve(t, "epoll")
	if got := mechanism(t, s.addr, "GET", "/fcgi-bin/hello", ""); !strings.HasPrefix(got, "200 ") {
		t.Fatal(got)
	}
	pids := workersOf(t, s.pid)
	s.ended = true
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, pid := range append(pids, s.pid) { // all are ours to reap: the orphans come to this process
		reapKilled(t, pid)
	}
}

// reapKilled waits for the end of a process by SIGKILL.
func reapKilled(t *testing.T, pid int) {
	t.Helper()
	timer := time.AfterFunc(patience, func() {
		t.Errorf("pid %d goes on", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	})
	defer timer.Stop()
	var status syscall.WaitStatus
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		got, err := syscall.Wait4(pid, &status, 0, nil)
		if got == pid {
			break
		}
		if err != syscall.EINTR && time.Now().After(end) {
			t.Fatalf("wait for pid %d: %v", pid, err)
		}
	}
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("pid %d ended with %s", pid, describe(status))
	}
}

// TestRestartStartsItsOwnWorkers: the successor answers by workers of its own,
// and those of its predecessor end.
func TestRestartStartsItsOwnWorkers(t *testing.T) {
	s := serve(t, "epoll")
	mechanism(t, s.addr, "GET", "/fcgi-bin/hello", "")
	before := workersOf(t, s.pid)
	old := s.restart()
	s.reap(old)
	if got := mechanism(t, s.addr, "GET", "/fcgi-bin/hello", ""); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	for _, pid := range before {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("worker %d outlives its server", pid)
		}
	}
	workersOf(t, s.pid)
}

// TestCrowd: a thousand requests at once to four workers are all answered, in
// bounded memory.
func TestCrowd(t *testing.T) {
	s := serve(t, "epoll")
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			if got := mechanism(t, s.addr, "POST", "/fcgi-bin/mirror", "body"); !strings.HasPrefix(got, "200 ") || !strings.HasSuffix(got, "\nbody") {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if n := peakMemory(t, s.pid); n > 256<<20 {
		t.Errorf("the server took %d bytes of memory", n)
	}
}

// peakMemory is the most that was resident of a process, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no VmHWM in %s", b)
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
