package script

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weighstone/weighstone"
)

// TestLibrary: the user's before the built-in, compiled once, and again when
// its file has changed, appeared or gone.
func TestLibrary(t *testing.T) {
	dir, compiled := t.TempDir(), 0
	l, err := NewLibrary("text", fstest.MapFS{"a.x": {Data: []byte("built in")}}, dir, ".x", func(name string, source []byte) (string, error) {
		compiled++
		if string(source) == "bad" {
			return "", errors.New(name + " is bad")
		}
		return string(source), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := time.Unix(1000, 0)
	l.now = func() time.Time { return now }
	file := filepath.Join(dir, "a.x")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		do   func()
		want string
		n    int
	}{
		{func() {}, "built in", 1},
		{func() {}, "built in", 1},
		{func() { now = now.Add(time.Hour) }, "built in", 1},
		{func() { write("user's") }, "built in", 1}, // not looked at yet
		{func() { now = now.Add(time.Hour) }, "user's", 2},
		{func() { now = now.Add(time.Hour) }, "user's", 2},
		{func() { write("bad"); now = now.Add(time.Hour) }, "error: a.x is bad", 3},
		{func() {}, "error: a.x is bad", 3},
		{func() { write("better"); now = now.Add(time.Hour) }, "better", 4},
		{func() { os.Remove(file); now = now.Add(time.Hour) }, "built in", 5},
	} {
		step.do()
		got, err := l.Find("a")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != step.want || compiled != step.n {
			t.Errorf("step %d: %q, compiled %d times; want %q, %d", i, got, compiled, step.want, step.n)
		}
	}
	for _, name := range []string{"", "b", ".a", "a/b", "../a", "a.x", "a\x00", "ä", strings.Repeat("a", 101)} {
		if _, err := l.Find(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v, want none", name, err)
		}
	}
}

// TestOutput: the same bytes come out, from memory or a file.
func TestOutput(t *testing.T) {
	var o Output
	for _, n := range []int{0, 1, maxMemory, maxMemory + 1, 3 * maxMemory} {
		want := strings.Repeat("0123456789", n/10+1)[:n]
		for rest := want; rest != ""; {
			part := rest[:min(len(rest), 100_001)]
			rest = rest[len(part):]
			if len(rest)%2 == 0 {
				o.WriteString(part)
			} else {
				o.Write([]byte(part))
			}
		}
		r, err := o.Reader()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != want || err != nil {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
		x := new(weighstone.Exchange)
		o.Send(x, "a/b")
		got := x.Scratch
		if f := x.Out.Body.File; f != nil {
			if got, err = io.ReadAll(io.NewSectionReader(f, x.Out.Body.Offset, x.Out.Body.Length)); err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != want || x.Out.Type != "a/b" || x.Out.Body.Length != int64(n) || o.Size() != 0 {
			t.Errorf("%d bytes: sent %d, %+v", n, len(got), x.Out.Body)
		}
		x.Out.Body.Close()
	}
	o.size = MaxOutput
	if _, err := o.WriteString("x"); err != ErrOutput || o.Err() != ErrOutput {
		t.Errorf("too much: %v, %v", err, o.Err())
	}
	o.Reset()
	if _, err := o.WriteString("x"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
