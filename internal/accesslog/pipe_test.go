package accesslog

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPipe: processes that share a pipe as standard error, each with a log of its
// own, tear no line, however long the requests are.
func TestPipe(t *testing.T) {
	const writers, each = 4, 300
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all sync.WaitGroup
	for range writers {
		log, err := Open(Options{Name: "-", Combined: true}, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for i := range each {
				x := exchange("GET", "/"+strings.Repeat("t\x01", i*20))
				x.In.Fields = fields{"User-Agent": strings.Repeat("u", i), "Referer": strings.Repeat(`"`, i)}
				log.Exchange(x, 200, 100)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	go func() {
		all.Wait()
		w.Close()
	}()
	whole := regexp.MustCompile(`^192\.0\.2\.7 - - \[[^]]*\] "GET /(t\\x01)*t?(\.\.\.)? HTTP/1\.1" 200 100 "(\\")*(\.\.\.)?" "u*(\.\.\.)?"$`)
	lines, cut := 0, 0
	in := bufio.NewScanner(r)
	for ; in.Scan(); lines++ {
		if !whole.MatchString(in.Text()) {
			t.Fatalf("line %d: %s", lines, in.Text())
		}
		if len(in.Bytes())+1 > atomic {
			t.Fatalf("line %d has %d bytes", lines, len(in.Bytes()))
		}
		if strings.Contains(in.Text(), "...") {
			cut++
		}
	}
	if in.Err() != nil || lines != writers*each || cut == 0 || cut == lines {
		t.Errorf("%d lines, of which %d are cut, want %d; %v", lines, cut, writers*each, in.Err())
	}
}

// TestLongLine: a line is cut only where it must be, and never beyond the limit.
func TestLongLine(t *testing.T) {
	var s stamp
	at := s.at(time.Now())
	for n := 0; n < 3*atomic; n += 17 {
		in := &exchange("M"+strings.Repeat("x", n%40), "/"+strings.Repeat("\x02", n/3)).In
		in.Fields = fields{"User-Agent": strings.Repeat("\\", n/5), "Referer": strings.Repeat("r", n/7)}
		line := appendLine(nil, in, at, 200, 1<<62, true, atomic)
		full := appendLine(nil, in, at, 200, 1<<62, true, 0)
		if len(line) > atomic || len(full) <= atomic && string(line) != string(full) {
			t.Fatalf("of %d bytes %d are left: %s", len(full), len(line), line)
		}
	}
}
