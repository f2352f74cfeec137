package upstream

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/cgi/fcgi"
)

// roleVariable makes the test binary a worker: one that does what the query
// says.
const roleVariable = "WEIGHSTONE_TEST_WORKER"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		code := m.Run()
		os.RemoveAll(samples.dir)
		os.Exit(code)
	case "dies":
		os.Exit(3)
	default:
		l, err := net.FileListener(os.Stdin)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for { // one connection at a time, as most do
			c, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			fcgi.ServeConn(c, misbehave)
			c.Close()
		}
	}
}

func misbehave(r *fcgi.Request) uint32 {
	query := r.Params["QUERY_STRING"]
	head := "Content-type: text/plain\n\n"
	switch query {
	case "pid":
		fmt.Fprintf(r.Out, "%s%d", head, os.Getpid())
	case "place":
		io.WriteString(r.Out, head+place())
	case "hang":
		fmt.Fprintf(os.Stderr, "hangs as %d\n", os.Getpid())
		select {}
	case "begin":
		io.WriteString(r.Out, head+strings.Repeat("begun and not ended\n", 10_000))
		fmt.Fprintf(os.Stderr, "has begun as %d\n", os.Getpid())
		select {}
	case "exit":
		os.Exit(0)
	case "flood":
		for range 10_000 {
			fmt.Fprintln(os.Stderr, "a flood of complaints, line after line")
		}
		io.WriteString(r.Out, head+"hello")
	}
	return 0
}

// place tells what a worker finds.
func place() string {
	var b strings.Builder
	for fd := range 64 {
		to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err == nil && (fd < 3 || to == "/dev/zero") { // others are its own runtime's, or ours from whoever runs the tests
			kind, _, _ := strings.Cut(to, ":")
			fmt.Fprintf(&b, "fd %d %s\n", fd, kind)
		}
	}
	env := os.Environ()
	sort.Strings(env)
	return b.String() + strings.Join(env, "\n") + "\n"
}

// oddWorkers is a site whose program "odd" is the test binary.
func oddWorkers(t *testing.T, o Options, role string) *site {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "odd"), b, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Env = append(o.Env, roleVariable+"="+role)
	return withPrograms(t, o, dir)
}

// pid asks which process answers.
func (s *site) pid() int {
	s.t.Helper()
	a := s.get("/fcgi-bin/odd?pid")
	pid, err := strconv.Atoi(a.body)
	if a.status != 200 || err != nil {
		s.t.Fatalf("%+v", a)
	}
	return pid
}

// said waits for a worker's line on standard error, and returns the number in
// it.
func (s *site) said(what string) (pid int) {
	s.t.Helper()
	soon(s.t, what, func() bool {
		_, rest, ok := strings.Cut(s.log.String(), what+" as ")
		if ok {
			_, err := fmt.Sscanf(rest, "%d", &pid)
			ok = err == nil
		}
		return ok
	})
	return pid
}

func TestWorkerFindsACleanPlace(t *testing.T) {
	t.Setenv("SECRET", "leak")
	leak, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	s := oddWorkers(t, Options{Workers: 1}, "odd")
	a := s.get("/fcgi-bin/odd?place")
	if want := fmt.Sprintf("fd 0 socket\nfd 1 /dev/null\nfd 2 pipe\nPATH=%s\n%s=odd\n", os.Getenv("PATH"), roleVariable); a.body != want {
		t.Errorf("%q, want %q", a.body, want)
	}
}

// TestKilledBefore: a worker that was killed while it was idle is replaced,
// and no request notices.
func TestKilledBefore(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 1}, "odd")
	for range 5 {
		old := s.pid()
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if now := s.pid(); now == old {
			t.Errorf("the worker is %d as before", now)
		}
		if a := s.ask("POST", "/fcgi-bin/odd?pid", "body"); a.status != 200 {
			t.Errorf("%+v", a)
		}
	}
}

// TestKilledDuring: a request whose worker is killed fails, and looks it; the
// next is answered.
func TestKilledDuring(t *testing.T) {
	for query, what := range map[string]string{"hang": "hangs", "begin": "has begun"} {
		t.Run(query, func(t *testing.T) {
			s := oddWorkers(t, Options{Workers: 1}, "odd")
			got := make(chan answer)
			go func() { got <- s.ask("POST", "/fcgi-bin/odd?"+query, "") }()
			if err := syscall.Kill(s.said(what), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			a := <-got
			if query == "hang" && a.status != 502 || query == "begin" && (a.status != 200 || a.broken == nil) {
				t.Errorf("%d, %d bytes, broken: %v", a.status, len(a.body), a.broken)
			}
			s.pid()
		})
	}
}

// TestHangingWorker: a worker that does not give up a request is replaced.
func TestHangingWorker(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 1, Timeout: 500 * time.Millisecond}, "odd")
	got := make(chan answer)
	go func() { got <- s.get("/fcgi-bin/odd?hang") }()
	pid := s.said("hangs")
	if a := <-got; a.status != 504 {
		t.Errorf("%+v", a)
	}
	soon(t, "another worker answers", func() bool {
		a := s.get("/fcgi-bin/odd?pid")
		return a.status == 200 && a.body != strconv.Itoa(pid)
	})
	soon(t, "the worker ends", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}

// TestAbandonedWorker: likewise when it is the client that gives up.
func TestAbandonedWorker(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 1}, "odd")
	c := s.begin("GET /fcgi-bin/odd?hang HTTP/1.1\r\nHost: a\r\n\r\n")
	pid := s.said("hangs")
	c.Close()
	soon(t, "the worker ends", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	s.pid()
}

// TestWorkerThatExits: one that ends by itself is replaced at once as long as
// any answers in between.
func TestWorkerThatExits(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 1}, "odd")
	for range 3 {
		s.pid()
		if a := s.ask("POST", "/fcgi-bin/odd?exit", ""); a.status != 502 {
			t.Errorf("%+v", a)
		}
	}
	s.pid()
}

// TestWorkersThatDie: when none runs for long enough requests are refused at
// once, and the processes are started less and less often.
func TestWorkersThatDie(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 2}, "dies")
	if a := s.get("/fcgi-bin/odd"); a.status != 502 {
		t.Errorf("%+v", a)
	}
	soon(t, "requests are refused", func() bool {
		a := s.get("/fcgi-bin/odd")
		return a.status == 503 && a.header.Get("Retry-After") != ""
	})
	if n := strings.Count(s.log.String(), `how="exit status 3"`); n < 2 || n > 40 {
		t.Errorf("%d processes have ended", n)
	}
}

func TestWorkerThatFloods(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 1}, "odd")
	for range 3 {
		if a := s.get("/fcgi-bin/odd?flood"); a.status != 200 || a.body != "hello" {
			t.Errorf("%+v", a)
		}
	}
	soon(t, "the log tells that it is bounded", func() bool { return strings.Contains(s.log.String(), "no more is logged") })
	if n := len(s.log.String()); n > 2<<20 {
		t.Errorf("the log has %d bytes", n)
	}
}

// TestCrowdWhileWorkersDie: of many requests at once, whatever becomes of the
// workers, each gets one whole reply or an error, and none is left waiting.
func TestCrowdWhileWorkersDie(t *testing.T) {
	s := oddWorkers(t, Options{Workers: 4}, "odd")
	stop := make(chan struct{})
	var killing, all sync.WaitGroup
	killing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if a := s.get("/fcgi-bin/odd?pid"); a.status == 200 {
					pid, _ := strconv.Atoi(a.body)
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
	})
	for range 300 {
		all.Go(func() {
			a := s.get("/fcgi-bin/odd?pid")
			if a.broken != nil || a.status == 200 && a.body == "" || a.status != 200 && a.status != 502 && a.status != 503 {
				t.Errorf("%+v", a)
			}
		})
	}
	all.Wait()
	close(stop)
	killing.Wait()
	soon(t, "all is well again", func() bool { return s.get("/fcgi-bin/odd?pid").status == 200 })
}
