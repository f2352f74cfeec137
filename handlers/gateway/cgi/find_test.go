package cgi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFind(t *testing.T) {
	first, second, outside := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\necho " + filepath.Base(dir) + ":$SCRIPT_NAME:$PATH_INFO:$(pwd -P)\n"
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(first, "both", 0o755)
	put(second, "both", 0o755)
	put(second, "second", 0o755)
	put(first, "x", 0o755)
	put(first, "source.c", 0o644)
	put(second, "source.c", 0o755)
	put(first, ".hidden", 0o755)
	put(first, "sub/prog", 0o755)
	put(first, "sub/.git/prog", 0o755)
	put(outside, "prog", 0o755)
	for name, to := range map[string]string{"out": filepath.Join(outside, "prog"), "up": "../" + filepath.Base(outside) + "/prog", "in": "x"} {
		if err := os.Symlink(to, filepath.Join(first, name)); err != nil {
			t.Fatal(err)
		}
	}
	h := newHost(t, Options{Dirs: []string{first, second}})
	for _, c := range []struct {
		path   string
		status int
		want   string // dir:SCRIPT_NAME:PATH_INFO:cwd
	}{
		{"both", 200, filepath.Base(first) + ":/cgi-bin/both::" + first},
		{"second", 200, filepath.Base(second) + ":/cgi-bin/second::" + second},
		{"x/", 200, filepath.Base(first) + ":/cgi-bin/x:/:" + first},
		{"x/a/b.c", 200, filepath.Base(first) + ":/cgi-bin/x:/a/b.c:" + first},
		{"x/.a", 200, filepath.Base(first) + ":/cgi-bin/x:/.a:" + first},
		{"in", 200, filepath.Base(first) + ":/cgi-bin/in::" + first},
		{"sub/prog/i", 200, filepath.Base(first) + ":/cgi-bin/sub/prog:/i:" + first + "/sub"},
		{"xyz", 404, ""},
		{"", 404, ""},
		{"sub", 404, ""},
		{"sub/", 404, ""},
		{"sub/none", 404, ""},
		{".hidden", 404, ""},
		{"sub/.git/prog", 404, ""},
		{"out", 404, ""},
		{"up", 404, ""},
		{"x%2fa", 400, ""},
		{"..%2fx", 400, ""},
		{"source.c", 500, ""},
		{"source.c/x", 500, ""},
	} {
		a := h.get(c.path)
		if a.status != c.status {
			t.Errorf("%s: status %d, want %d", c.path, a.status, c.status)
		}
		if c.status == 200 && strings.TrimSpace(a.body) != c.want {
			t.Errorf("%s: %q, want %q", c.path, a.body, c.want)
		}
		if strings.Contains(a.body, "#!") {
			t.Errorf("%s: its source was sent", c.path)
		}
	}
	if !strings.Contains(h.log.String(), "file="+filepath.Join(first, "source.c")) {
		t.Errorf("the log does not name the file that can't run: %s", h.log)
	}
}

func TestWhatCannotStart(t *testing.T) {
	h := newHost(t, Options{})
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"no-interpreter": {"#!/nonexistent/interpreter\n", 500},
		"no-format":      {"just text\n", 500},
		"empty":          {"", 500},
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if a := h.get(name); a.status != c.status || strings.Contains(a.body, "text\n") {
			t.Errorf("%s: %d %q, want %d", name, a.status, a.body, c.status)
		}
		if !strings.Contains(h.log.String(), "/cgi-bin/"+name) {
			t.Errorf("%s: nothing in the log", name)
		}
	}
}

func TestNewRefusesMissingDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := New(Options{Dirs: []string{missing}}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want one that names the directory", err)
	}
}
