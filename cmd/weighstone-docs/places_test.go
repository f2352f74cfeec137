package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPlaceless: neither what is made from now on nor what is committed names
// directories of the machine that made it.
func TestPlaceless(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", temp)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := placeless(here + "/bin/x --fixtures " + home + "/.cache/f --root " + temp + "/r, in " + here)
	if want := "/weighstone/bin/x --fixtures ~/.cache/f --root $TMPDIR/r, in /weighstone"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	place := regexp.MustCompile(`(^|[" =;])/(root|home|tmp|work)/[^" ]*`)
	for _, kind := range []string{"calls/*.txt", "results/*.json", "variants/*.md", "studies/*.md"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", "docs", kind))
		if err != nil || len(paths) == 0 {
			t.Errorf("%s: %d files, %v", kind, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if found := place.Find(text); found != nil {
				t.Errorf("%s names %s", path, found)
			}
		}
	}
}
