package upstream

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/cgi/fcgi"
)

// TestMountFindsFiles: a path that leads to a file below the root names that, also
// when the file comes after requests that found none.
func TestMountFindsFiles(t *testing.T) {
	o := newOdd(t, func(c *wire, _ int) {
		for {
			var params []byte
			for {
				kind, content, err := c.record()
				if err != nil {
					return
				}
				params = append(params, content...)
				if kind == fcgi.TypeStdin && len(content) == 0 {
					break
				}
			}
			c.say(out("Content-type: text/plain\r\n\r\n"+string(params)), end(0))
		}
	})
	root := t.TempDir()
	s := mounted(t, Options{Root: root}, o.address)
	file := filepath.Join(root, "app", "dir", "x")
	named := func() bool {
		a := s.get("/app/dir/x/info")
		if a.status != 200 {
			t.Fatalf("%+v", a)
		}
		return strings.Contains(a.body, "SCRIPT_NAME/app/dir/x") && strings.Contains(a.body, "PATH_INFO/info")
	}
	if named() {
		t.Error("a file that is not there was named")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	soon(t, "the file is found", named)
}
