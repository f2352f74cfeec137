package tests

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// These are calls on an accepted connection, as strace -yy shows it, or for one:
// "->" stands between its two ends.
var (
	added   = regexp.MustCompile(`epoll_ctl\(.*, EPOLL_CTL_ADD, \d+<TCP:\[.*->`)
	changed = regexp.MustCompile(`epoll_ctl\(.*, EPOLL_CTL_MOD, \d+<TCP:\[.*->`)
	removed = regexp.MustCompile(`epoll_ctl\(.*, EPOLL_CTL_DEL, \d+<TCP:`)
	nothing = regexp.MustCompile(`read\(\d+<TCP:\[.*EAGAIN`)
)

// TestEpollKnobs: interest is stated once for a connection, or at each change
// of its state; an edge is used up, at the price of a read for each request,
// unless the next one is there already.
func TestEpollKnobs(t *testing.T) {
	need(t, "strace")
	const requests = 100
	for _, c := range []struct {
		flags                           []string
		added, changed, removed, gotNil int
	}{
		{nil, 1, 0, 1, 0},
		{[]string{"--epoll-ctl", "naive"}, 1, requests, 2, 0},
		{[]string{"--edge"}, 1, 0, 1, requests},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			log := traceLog(t, "epoll_ctl,read", func(addr string) { askSlowly(t, addr, requests) }, "epoll", c.flags...)
			count := func(what string, call *regexp.Regexp, least, most int) {
				if n := len(call.FindAll(log, -1)); n < least || n > most {
					t.Errorf("%s: %d, want %d to %d", what, n, least, most)
				}
			}
			count("connections watched", added, c.added, c.added)
			count("changes of interest", changed, c.changed, c.changed)
			count("sockets unwatched, the listening one among them", removed, c.removed, c.removed)
			count("reads of nothing", nothing, c.gotNil/2, 2*c.gotNil)
		})
	}
}

// askSlowly sends requests one after another on one connection, each when the
// server has had time to look for it in vain.
func askSlowly(t *testing.T, addr string, n int) {
	t.Helper()
	c, err := dial(addr, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	file := content(t, "100.html")
	for range n {
		time.Sleep(2 * time.Millisecond)
		if err := c.send(get("/100.html")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.receive(file); err != nil {
			t.Fatal(err)
		}
	}
}

// sending are the calls by which a file leaves.
const sending = "sendto,sendmsg,sendfile,setsockopt,mmap,pread64"

// TestSendKnob: a file leaves by the calls that the flag names.
func TestSendKnob(t *testing.T) {
	need(t, "strace")
	file := content(t, "silicon-surf/file200k.html")
	ask := func(addr string) {
		c, err := dial(addr, false)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if err := c.send(get("/silicon-surf/file200k.html")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.receive(file); err != nil {
			t.Fatal(err)
		}
	}
	sendfile := regexp.MustCompile(`sendfile\(\d+<TCP`)
	pread := regexp.MustCompile(`pread64\(\d+<.*/file200k`)
	mapped := regexp.MustCompile(`mmap\(.*/file200k`)
	more := regexp.MustCompile(`sendto\(\d+<TCP.*MSG_MORE`)
	cork := regexp.MustCompile(`TCP_CORK, \[1\]`)
	uncork := regexp.MustCompile(`TCP_CORK, \[0\]`)
	for _, variant := range loops {
		for flag, want := range map[string]map[*regexp.Regexp]bool{
			"":         {sendfile: true, more: true, pread: false, mapped: false, cork: false},
			"sendfile": {sendfile: true, more: true, pread: false, mapped: false, cork: false},
			"write":    {sendfile: false, more: true, pread: true, mapped: false, cork: false},
			"mmap":     {sendfile: false, more: false, pread: false, mapped: true, cork: false},
			"cork":     {sendfile: true, more: false, pread: false, mapped: false, cork: true, uncork: true},
		} {
			var flags []string
			if flag != "" {
				flags = []string{"--send", flag}
			}
			log := traceLog(t, sending, ask, variant, flags...)
			for call, there := range want {
				if call.Match(log) != there {
					t.Errorf("%s --send %q: %v is there: %v", variant, flag, call, !there)
				}
			}
		}
	}
}

// TestSendKnobSmall: with --send sendfile no file leaves from memory, with cork
// a page in memory leaves apart from its head.
func TestSendKnobSmall(t *testing.T) {
	need(t, "strace")
	ask := func(addr string) { askMany(t, addr, 1) }
	if log := traceLog(t, sending, ask, "epoll", "--send", "sendfile"); strings.Count(string(log), "sendfile(") != 1 {
		t.Errorf("not one sendfile for a file of 100 bytes:\n%s", log)
	}
	log := traceLog(t, sending, ask, "epoll", "--send", "cork")
	if n := len(regexp.MustCompile(`(?m)sendto\(\d+<TCP`).FindAll(log, -1)); n != 2 {
		t.Errorf("%d sends for head and page, want 2:\n%s", n, log)
	}
}

// TestDeferAccept: a connection without a byte is not accepted, and is when it
// has sent a request.
func TestDeferAccept(t *testing.T) {
	onEach(t, func(t *testing.T, variant string) {
		s := serve(t, variant, "--defer-accept")
		file := content(t, "100.html")
		silent, err := dial(s.addr, false)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.close()
		if n := accepted(t, s.addr); n != 1 { // the one that asks
			t.Errorf("%d connections accepted, want 1", n)
		}
		if err := silent.send(get("/100.html")); err != nil {
			t.Fatal(err)
		}
		if _, err := silent.receive(file); err != nil {
			t.Fatal(err)
		}
		if n := accepted(t, s.addr); n != 3 {
			t.Errorf("%d connections accepted, want 3", n)
		}
	})
}

// accepted asks, on a connection of its own, how many connections were.
func accepted(t *testing.T, addr string) (n int) {
	t.Helper()
	return int(status(t, addr)["accepted"].(float64))
}

// status is what /server-status answers.
func status(t *testing.T, addr string) (report map[string]any) {
	t.Helper()
	res, err := http.Get("http://" + addr + "/server-status")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&report); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return report
}

// opened is a look-up of a file of the content, or of an override file.
var opened = regexp.MustCompile(`openat\(\d+<.*"(file500\.html|\.htaccess)"`)

// TestFileCache: a file is opened for each request, once, or once with all of
// its content read; override files are looked for at every request.
func TestFileCache(t *testing.T) {
	need(t, "strace")
	const requests = 20
	ask := func(addr string) {
		file := content(t, "standard/file500.html")
		c, err := dial(addr, false)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		for range requests {
			if err := c.send(get("/standard/file500.html")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.receive(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		flags                       []string
		files, overrides, sendfiles int
	}{
		{[]string{"--file-cache", "none"}, requests, 0, requests},
		{[]string{"--file-cache", "descriptor"}, 1, 0, requests},
		{[]string{"--file-cache", "memory"}, 1, 0, 0},
		{nil, 1, 0, 0},
		{[]string{"--override-files", ".htaccess"}, 1, 2 * requests, 0}, // in / and /standard/
	} {
		// Without -s 0: the names are wanted.
		log := filepath.Join(t.TempDir(), "trace")
		s := serveUnder(t, []string{"strace", "-f", "-qq", "--seccomp-bpf", "-yy", "-e", "trace=openat,sendfile", "-o", log}, "epoll", c.flags...)
		before := len(openedIn(t, log))
		ask(s.addr)
		s.stop()
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		files, overrides := 0, 0
		for _, name := range openedIn(t, log)[before:] {
			if name == ".htaccess" {
				overrides++
			} else {
				files++
			}
		}
		sendfiles := strings.Count(string(b), "sendfile(")
		if files != c.files || overrides != c.overrides || sendfiles != c.sendfiles {
			t.Errorf("%v: for %d requests the file is opened %d times, overrides looked for %d times, %d sendfiles; want %d, %d, %d",
				c.flags, requests, files, overrides, sendfiles, c.files, c.overrides, c.sendfiles)
		}
	}
}

// openedIn lists what has been looked up so far: fixtures are verified at the
// start.
func openedIn(t *testing.T, log string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.FindAllSubmatch(b, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
