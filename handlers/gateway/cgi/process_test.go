package cgi

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// TestMain lets the test binary be a CGI program that looks at itself, and the
// helper that starts programs.
func TestMain(m *testing.M) {
	if on, err := unix.GetsockoptInt(0, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && on == 1 {
		fmt.Fprintln(os.Stderr, helper.Serve(0))
		os.Exit(1)
	}
	if os.Getenv("GATEWAY_INTERFACE") != "" {
		introspect()
		return
	}
	os.Exit(m.Run())
}

// introspect prints what a program finds: its descriptors, its environment
// and its signals.
func introspect() {
	fmt.Print("Content-Type: text/plain\n\n")
	for fd := range 256 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			kind, _, _ := strings.Cut(to, "[")
			kind, _, _ = strings.Cut(kind, ":")
			fmt.Printf("fd %d %s\n", fd, kind)
		}
	}
	fmt.Println("args", len(os.Args))
	env := os.Environ()
	sort.Strings(env)
	for _, v := range env {
		fmt.Println("env", v)
	}
}

func TestProgramFindsACleanPlace(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/leak")
	t.Setenv("SECRET", "leak")
	t.Setenv("HTTP_PROXY", "leak")
	h := newHost(t, Options{Env: []string{"EXTRA=yes"}, Root: "/srv/www"})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir+"/self", b, 0o755); err != nil {
		t.Fatal(err)
	}
	leak, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	a := h.do(call{target: "/cgi-bin/self/p?-s+x", fields: lines{"Proxy", "evil", "X-A", "1"}})
	for _, want := range []string{
		"fd 0 /dev/null\n", "fd 1 pipe\n", "fd 2 pipe\n", "args 1\n", "env EXTRA=yes\n", "env PATH=" + os.Getenv("PATH") + "\n",
		"env QUERY_STRING=-s+x\n", "env PATH_TRANSLATED=/srv/www/p\n", "env SCRIPT_FILENAME=" + h.dir + "/self\n", "env HTTP_X_A=1\n",
		"env GATEWAY_INTERFACE=CGI/1.1\n", "env SERVER_SOFTWARE=" + weighstone.Software + "\n",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"leak", "evil", "/dev/zero", "socket"} {
		if strings.Contains(a.body, not) {
			t.Errorf("%q is there", not)
		}
	}
	if t.Failed() {
		t.Log(a.body)
	}
}

func TestSignalsAreDefault(t *testing.T) {
	h := newHost(t, Options{})
	h.script("signals", `printf 'Content-Type: a/b\n\n'; grep -E 'Sig(Blk|Ign)' /proc/self/status`)
	for _, line := range strings.Split(strings.TrimSpace(h.get("signals").body), "\n") {
		name, mask, _ := strings.Cut(line, ":")
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err != nil || bits&(1<<(13-1)) != 0 { // SIGPIPE
			t.Errorf("%s is %s, error %v: SIGPIPE does not end a program", name, mask, err)
		}
	}
}

// pids reads the process numbers that a script left in a file.
func (h *host) pids(name string) (pids []int) {
	h.t.Helper()
	soon(h.t, name+" is written", func() bool {
		b, err := os.ReadFile(h.dir + "/" + name)
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	for _, word := range strings.Fields(read(h.t, h.dir+"/"+name)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			h.t.Fatal(err)
		}
		pids = append(pids, n)
	}
	return pids
}

func (h *host) expectDead(name string) {
	h.t.Helper()
	for _, pid := range h.pids(name) {
		soon(h.t, "the whole group ends", func() bool { return !alive(pid) })
	}
}

// family is a script whose grandchild would outlive it.
const family = `sleep 60 & echo $$ $! > pids; `

func TestTimeLimit(t *testing.T) {
	h := newHost(t, Options{Timeout: 300 * time.Millisecond})
	h.script("silent", family+`sleep 60`)
	h.script("begun", family+`printf 'Content-Type: a/b\n\nbegun'; sleep 60`)
	if a := h.get("silent"); a.status != 504 {
		t.Errorf("silent: status %d, want 504", a.status)
	}
	h.expectDead("pids")
	os.Remove(h.dir + "/pids")
	if a := h.get("begun"); a.status != 200 || a.body != "begun" || a.broken == nil {
		t.Errorf("begun: %d %q, broken %v", a.status, a.body, a.broken)
	}
	h.expectDead("pids")
}

func TestClientLeaves(t *testing.T) {
	h := newHost(t, Options{})
	h.script("silent", family+`sleep 60`)
	gone := make(chan struct{})
	close(gone)
	if a := h.do(call{target: "/cgi-bin/silent", gone: gone}); a.status != 504 {
		t.Errorf("status %d, want 504", a.status)
	}
	h.expectDead("pids")
}

// TestHalfClosedClient: who has only closed the sending side gets the reply.
func TestHalfClosedClient(t *testing.T) {
	h := newHost(t, Options{})
	h.script("slow", `sleep 0.5; printf 'Content-Type: a/b\n\nhello'`)
	gone := make(chan struct{})
	close(gone)
	if a := h.do(call{target: "/cgi-bin/slow", gone: gone}); a.status != 200 || a.body != "hello" {
		t.Errorf("%d %q", a.status, a.body)
	}
}

func TestClosedStreamEndsProgram(t *testing.T) {
	h := newHost(t, Options{})
	h.script("endless", family+`printf 'Content-Type: a/b\n\n'; while echo y; do :; done`)
	x := h.begin(call{target: "/cgi-bin/endless"})
	io.CopyN(io.Discard, x.Out.Body.Stream, 1<<20)
	x.Out.Body.Close()
	h.expectDead("pids")
}

func TestCloseOfHandlerEndsPrograms(t *testing.T) {
	h := newHost(t, Options{})
	h.script("silent", `echo $$ > pids; exec sleep 60`)
	over := make(chan answer)
	go func() { over <- h.get("silent") }()
	h.pids("pids")
	h.Close()
	if a := <-over; a.status < 500 {
		t.Errorf("status %d, want a 5xx", a.status)
	}
	h.expectDead("pids")
}

// TestGrandchildHoldsOutput: a reply ends soon after its program, whoever
// still holds the pipe, also from another session.
func TestGrandchildHoldsOutput(t *testing.T) {
	h := newHost(t, Options{Timeout: time.Minute})
	h.script("leaves", `sleep 50 & echo $! > pids; printf 'Content-Type: a/b\n\nhello'`)
	h.script("escapes", `setsid sleep 50 & echo $! > escaped; printf 'Content-Type: a/b\n\nhello'`)
	for _, name := range []string{"leaves", "escapes"} {
		a := h.get(name)
		if a.status != 200 || a.body != "hello" || a.broken != nil || a.elapsed > 30*time.Second {
			t.Errorf("%s: %d %q, broken %v, %v", name, a.status, a.body, a.broken, a.elapsed)
		}
	}
	h.expectDead("pids")
	for _, pid := range h.pids("escaped") {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestGrandchildGoesOnWriting: not even one that escaped makes a reply endless.
func TestGrandchildGoesOnWriting(t *testing.T) {
	h := newHost(t, Options{Timeout: time.Minute})
	h.script("escapes", `printf 'Content-Type: a/b\n\nhello'; setsid yes & echo $! > pids`)
	if a := h.get("escapes"); a.status != 200 || a.broken != nil || a.elapsed > 30*time.Second {
		t.Errorf("%d, %d bytes, broken %v, %v", a.status, len(a.body), a.broken, a.elapsed)
	}
	h.expectDead("pids")
}

// TestDaemonMayStay: who has let go of the output is left alone.
func TestDaemonMayStay(t *testing.T) {
	h := newHost(t, Options{})
	h.script("daemon", `(sleep 0.3; echo done > mark) </dev/null >/dev/null 2>&1 & printf 'Content-Type: a/b\n\nhello'`)
	if a := h.get("daemon"); a.body != "hello" || a.stream {
		t.Errorf("%q, streamed %v", a.body, a.stream)
	}
	soon(t, "the daemon finishes", func() bool { _, err := os.Stat(h.dir + "/mark"); return err == nil })
}

// TestClosedOutputGoesOn: a program that closed its output is answered for
// and finishes in the background.
func TestClosedOutputGoesOn(t *testing.T) {
	h := newHost(t, Options{})
	h.script("on", `printf 'Content-Type: a/b\n\nhello'; exec >&-; sleep 0.5; echo done > mark`)
	if a := h.get("on"); a.status != 200 || a.body != "hello" || a.broken != nil {
		t.Errorf("%d %q, broken %v", a.status, a.body, a.broken)
	}
	if _, err := os.Stat(h.dir + "/mark"); err == nil {
		t.Error("the reply waited for the program")
	}
	soon(t, "the program finishes", func() bool { _, err := os.Stat(h.dir + "/mark"); return err == nil })
}

func TestTooManyProcesses(t *testing.T) {
	h := newHost(t, Options{MaxProcesses: 1, Timeout: 400 * time.Millisecond})
	h.script("slow", `echo $$ > pids; exec sleep 60`)
	h.script("quick", `printf 'Content-Type: a/b\n\nhello'`)
	h.slots <- struct{}{}
	a := h.get("quick")
	if a.status != 503 || a.field("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", a.status, a.field("Retry-After"))
	}
	if a := h.do(call{method: "POST", target: "/cgi-bin/quick", body: strings.NewReader(""), length: 1 << 20}); a.status != 503 || !a.close {
		t.Errorf("with a body: %d, close %v", a.status, a.close)
	}
	<-h.slots
	if a := h.get("quick"); a.status != 200 {
		t.Errorf("status %d once there is room", a.status)
	}
}

func TestStandardError(t *testing.T) {
	h := newHost(t, Options{})
	h.script("quick", `echo first >&2; printf 'second\r\nthird' >&2; printf 'Content-Type: a/b\n\nhello'`)
	h.script("slow", `echo begun >&2; sleep 0.3; echo ended >&2; printf 'Content-Type: a/b\n\nhello'`)
	h.script("much", `head -c 3000000 /dev/zero | tr '\0' x >&2; printf 'Content-Type: a/b\n\nhello'`)
	h.script("lines", `yes complaint | head -n 100000 >&2; printf 'Content-Type: a/b\n\nhello'`)
	for _, name := range []string{"quick", "slow", "much", "lines", "quick"} {
		if a := h.get(name); a.status != 200 || a.body != "hello" {
			t.Errorf("%s: %d %q", name, a.status, a.body)
		}
	}
	h.quiet()
	soon(t, "the log is written", func() bool { return strings.Contains(h.log.String(), "ended") })
	log := h.log.String()
	for _, want := range []string{"line=first", "line=second\n", "line=third", "line=begun", "line=ended", "script=/cgi-bin/quick"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log", want)
		}
	}
	if n := len(log); n > 3*gateway.MaxComplaint*10 || !strings.Contains(log, "no more is logged") {
		t.Errorf("%d bytes of log", n)
	}
}

func TestEarlyOutputIsNotHeldBack(t *testing.T) {
	h := newHost(t, Options{})
	h.script("early", `printf 'Content-Type: a/b\n\nearly\n'; while ! test -e go; do sleep 0.02; done; echo late`)
	x := h.begin(call{target: "/cgi-bin/early"})
	b := make([]byte, 100)
	n, err := x.Out.Body.Stream.Read(b)
	if string(b[:n]) != "early\n" || err != nil {
		t.Errorf("%q, error %v", b[:n], err)
	}
	h.script("go", "")
	if rest, err := io.ReadAll(x.Out.Body.Stream); string(rest) != "late\n" || err != nil {
		t.Errorf("%q, error %v", rest, err)
	}
	x.Out.Body.Close()
}

func TestStreamedLength(t *testing.T) {
	h := newHost(t, Options{})
	body := `head -c 200000 /dev/zero`
	h.script("right", `printf 'Content-Type: a/b\nContent-Length: 200000\n\n'; `+body)
	h.script("short", `printf 'Content-Type: a/b\nContent-Length: 300000\n\n'; `+body)
	h.script("long", `printf 'Content-Type: a/b\nContent-Length: 150000\n\n'; `+body)
	h.script("killed", `printf 'Content-Type: a/b\n\n'; `+body+`; kill -9 $$`)
	for name, c := range map[string]struct {
		length, got int64
		broken      bool
	}{"right": {200000, 200000, false}, "short": {300000, 200000, true}, "long": {150000, 150000, false}, "killed": {-1, 200000, true}} {
		a := h.get(name)
		if a.length != c.length || int64(len(a.body)) != c.got || (a.broken != nil) != c.broken {
			t.Errorf("%s: length %d, %d bytes, broken %v", name, a.length, len(a.body), a.broken)
		}
	}
}

// TestMuchOutput: memory does not grow with a reply.
func TestMuchOutput(t *testing.T) {
	h := newHost(t, Options{})
	h.script("much", `printf 'Content-Type: a/b\n\n'; head -c 100000000 /dev/zero`)
	x := h.begin(call{target: "/cgi-bin/much"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, x.Out.Body.Stream, make([]byte, 32<<10))
	runtime.ReadMemStats(&after)
	x.Out.Body.Close()
	if grown := after.TotalAlloc - before.TotalAlloc; n != 100000000 || err != nil || grown > 4<<20 {
		t.Errorf("%d bytes, error %v, %d allocated", n, err, grown)
	}
}

// TestManyAtOnce: nothing is left of many programs, which newHost checks.
func TestManyAtOnce(t *testing.T) {
	h := newHost(t, Options{MaxProcesses: 4})
	h.script("quick", `printf 'Content-Type: a/b\n\nhello'`)
	over := make(chan answer)
	for range 8 {
		go func() {
			var last answer
			for range 10 {
				last = h.get("quick")
			}
			over <- last
		}()
	}
	for range 8 {
		if a := <-over; a.status != 200 || a.body != "hello" || a.length != 5 {
			t.Errorf("%+v", a)
		}
	}
}
