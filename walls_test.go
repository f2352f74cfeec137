package weighstone_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weighstone/weighstone"

// walls says for a part of the tree what its packages, tests left aside, must
// not import: docs/architecture.md gives the reasons.
var walls = map[string][]string{
	"servers":  {"handlers", "bench", "fixtures", "cmd"},
	"handlers": {"servers", "bench", "cmd"},
	"cgi":      {"servers", "handlers", "bench", "cmd"},
	"bench":    {"servers", "handlers", "cgi", "cmd"},
	"fixtures": {"servers", "handlers", "cgi", "bench", "cmd"},
	"internal": {"servers", "handlers", "cgi", "bench", "cmd"},
}

func TestWalls(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "out" || path == "bin" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		part, _, below := strings.Cut(filepath.ToSlash(path), "/")
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			seen++
			if !below && strings.Contains(name, ".") {
				t.Errorf("%s imports %s: the vocabulary needs the standard library only", path, name)
			}
			for _, other := range walls[part] {
				if name == module+"/"+other || strings.HasPrefix(name, module+"/"+other+"/") {
					t.Errorf("%s imports %s through a wall", path, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d imports seen: the tree was not walked", seen)
	}
}

// TestSmallWorker: the program that some architectures start for each connection
// links none of the large libraries, whose initialisation each start would pay.
func TestSmallWorker(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/weighstone-worker").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Errorf("it links %d packages only: %q", len(deps), deps)
	}
	for _, dep := range deps {
		for _, large := range []string{
			"modernc.org/", "github.com/tetratelabs/wazero", "github.com/yuin/gopher-lua",
			"github.com/valyala/fasthttp", "github.com/gofiber/", "github.com/alecthomas/kong", "github.com/prometheus/",
			module + "/bench", module + "/handlers/store", module + "/handlers/script",
		} {
			if strings.HasPrefix(dep, large) {
				t.Errorf("weighstone-worker links %s", dep)
			}
		}
	}
}
