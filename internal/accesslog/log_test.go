package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func exchange(method, target string) *weighstone.Exchange {
	return &weighstone.Exchange{In: weighstone.Request{
		Method: []byte(method), Target: []byte(target), Minor: 1,
		Remote: netip.MustParseAddrPort("[::ffff:192.0.2.7]:4711"),
	}}
}

func TestLine(t *testing.T) {
	at := time.Date(2000, 10, 10, 13, 55, 36, 0, time.FixedZone("", -7*3600))
	for _, c := range []struct {
		method, target string
		status         int
		sent           int64
		want           string
	}{
		{"GET", "/a?b=c", 200, 2326, `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 2326`},
		{"HEAD", "/", 304, 0, `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "HEAD / HTTP/1.1" 304 -`},
		{"GET", "/\" 200 1\n\\\x1b\xe9", 400, 16, `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /\" 200 1\x0a\\\x1b\xe9 HTTP/1.1" 400 16`},
		{"", "", 408, 20, `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "-" 408 20`},
	} {
		var s stamp
		got := string(appendLine(nil, &exchange(c.method, c.target).In, s.at(at), c.status, c.sent, false, 0))
		if got != c.want+"\n" {
			t.Errorf("got  %swant %s", got, c.want)
		}
	}
}

// fields are the lines of one request.
type fields map[string]string

func (f fields) Get(name string) []byte {
	if v, ok := f[name]; ok {
		return []byte(v)
	}
	return nil
}

func (f fields) Each(weighstone.FieldSink) {}

// TestCombinedLine: the format is Apache's, to the byte.
func TestCombinedLine(t *testing.T) {
	at := time.Date(2000, 10, 10, 13, 55, 36, 0, time.FixedZone("", -7*3600))
	const line = `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326`
	for want, f := range map[string]weighstone.Fields{
		line + ` "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"`: fields{
			"Referer": "http://www.example.com/start.html", "User-Agent": "Mozilla/4.08 [en] (Win98; I ;Nav)"},
		line + ` "-" "wrk"`:          fields{"User-Agent": "wrk"},
		line + ` "" "-"`:             fields{"Referer": ""},
		line + ` "\" x \x1b" "a\\b"`: fields{"Referer": "\" x \x1b", "User-Agent": `a\b`},
		line + ` "-" "-"`:            nil,
	} {
		var s stamp
		x := exchange("GET", "/")
		x.In.Fields = f
		if got := string(appendLine(nil, &x.In, s.at(at), 200, 2326, true, 0)); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

// TestBuffer: lines are written when the buffer has no room for one more, and
// without one each at once.
func TestBuffer(t *testing.T) {
	const lines = 100
	for buffer, most := range map[int]int{-1: lines, 1000: lines/10 + 1, 0: 1} {
		var out recorder
		l, err := Open(Options{Name: "-", Buffer: buffer}, &out, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range lines {
			l.Exchange(exchange("GET", "/100.html"), 200, 100) // 81 bytes
		}
		before := len(out.writes)
		l.Close()
		if n := len(out.writes); n > most+1 || buffer < 0 && before != lines {
			t.Errorf("buffer %d: %d writes for %d lines, %d before the end", buffer, n, lines, before)
		}
		if n := strings.Count(strings.Join(out.writes, ""), "\n"); n != lines {
			t.Errorf("buffer %d: %d lines", buffer, n)
		}
	}
}

func TestLinesEqualRequestsFromManyGoroutines(t *testing.T) {
	const workers, each = 8, 2000
	name := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(Options{Name: name}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				l.Exchange(exchange("GET", fmt.Sprintf("/%d/%d", w, i)), 200, 100)
			}
		})
	}
	// Renamed and reopened meanwhile, as log rotation does.
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	both := readFile(t, name+".1") + readFile(t, name)
	line := regexp.MustCompile(`^192\.0\.2\.7 - - \[[^]]+\] "GET /\d+/\d+ HTTP/1\.1" 200 100$`)
	lines := strings.Split(strings.TrimSuffix(both, "\n"), "\n")
	if len(lines) != workers*each {
		t.Errorf("%d lines for %d requests", len(lines), workers*each)
	}
	for _, s := range lines {
		if !line.MatchString(s) {
			t.Fatalf("torn line %q", s)
		}
	}
}

func TestFlushesInTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(Options{Name: name}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Exchange(exchange("GET", "/"), 200, 1)
	for deadline := time.Now().Add(20 * time.Second); readFile(t, name) == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the line was never written")
		}
	}
}

func TestNewLineNeverSplits(t *testing.T) {
	var out recorder
	l, err := Open(Options{Name: "-"}, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	long := "/" + strings.Repeat("\x01", 2*bufferSize)
	l.Exchange(exchange("GET", long), 200, 1)
	l.Exchange(exchange("GET", "/short"), 200, 1)
	l.Exchange(exchange("GET", long), 200, 1)
	l.Close()
	for _, w := range out.writes {
		if !strings.HasSuffix(w, "\n") {
			t.Error("a write ends within a line")
		}
	}
	if n := strings.Count(strings.Join(out.writes, ""), "\n"); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}

func TestLostLinesAreCounted(t *testing.T) {
	out := recorder{err: errors.New("disk full")}
	l, err := Open(Options{Name: "-"}, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.Exchange(exchange("GET", "/"), 200, 1)
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "lost 3 lines") {
		t.Errorf("error %v, want one that counts 3 lines", err)
	}
}

func TestOpenAndReopenErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if _, err := Open(Options{Name: filepath.Join(dir, "log")}, nil, nil); err == nil {
		t.Error("opened in a directory that does not exist")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Options{Name: filepath.Join(dir, "log")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err == nil {
		t.Error("reopened in a directory that does not exist")
	}
	l.Exchange(exchange("GET", "/"), 200, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, filepath.Join(dir+"2", "log")); strings.Count(got, "\n") != 1 {
		t.Errorf("the old file holds %q, want one line", got)
	}
}

// A recorder notes each write, or fails them all.
type recorder struct {
	mu     sync.Mutex
	writes []string
	err    error
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	r.writes = append(r.writes, string(bytes.Clone(b)))
	return len(b), nil
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
