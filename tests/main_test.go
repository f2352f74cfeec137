package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// built is what TestMain made, for all tests to read.
var built struct {
	program  string // weighstone
	fixtures string // the content it serves
}

// TestMain builds the program, its worker and its content, and has the successors of a
// restart, whose parents end before them, handed to this process, so that no
// test leaves one behind. As a child it plays its part instead.
func TestMain(m *testing.M) {
	if os.Getenv(withoutRole) != "" {
		fmt.Fprintln(os.Stderr, without())
		os.Exit(1)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become a subreaper: %w", err)
	}
	dir, err := os.MkdirTemp("", "weighstone-tests-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	built.program = filepath.Join(dir, "weighstone")
	flags := buildFlags
	if len(flags) == 0 {
		flags = []string{"-trimpath"} // as make builds it, so that all is compiled already
	}
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", dir}, flags,
		[]string{"github.com/weighstone/weighstone/cmd/weighstone", "github.com/weighstone/weighstone/cmd/weighstone-worker",
			"github.com/weighstone/weighstone/cmd/weighstone-helper"})
	build := exec.Command("go", args...)
	if len(buildFlags) == 0 {
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	if err := bringPrograms(dir); err != nil {
		return 0, err
	}
	built.fixtures = filepath.Join(dir, "fixtures")
	if out, err := exec.Command(built.program, "fixtures", "write", "--specweb", "1", built.fixtures).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("write the content: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// bringPrograms puts the sample programs beside the program, where it finds
// them.
func bringPrograms(dir string) error {
	if out, err := exec.Command("make", "-s", "-C", "..", "programs").CombinedOutput(); err != nil {
		return fmt.Errorf("build the sample programs: %w\n%s", err, out)
	}
	for _, name := range []string{"cgi", "fcgi", "perl", "php"} {
		there, err := filepath.Abs(filepath.Join("..", "bin", name))
		if err == nil {
			err = os.Symlink(there, filepath.Join(dir, name))
		}
		if err != nil {
			return fmt.Errorf("bring the sample programs: %w", err)
		}
	}
	return nil
}

// need skips the test when a tool is missing, or fails it in CI.
func need(t *testing.T, tool string) {
	t.Helper()
	_, err := exec.LookPath(tool)
	if err == nil && tool == "strace" { // where containers may not trace, it is of no use
		err = exec.Command(tool, "-f", "-qq", "-o", os.DevNull, "true").Run()
	}
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is needed: %v", tool, err)
	}
	t.Skipf("%s is needed: %v", tool, err)
}

// onEach runs a test on every variant, several at a time; under the race
// detector, which a family's code needs to pass once, on one of each family.
func onEach(t *testing.T, test func(t *testing.T, variant string)) {
	if len(buildFlags) > 0 {
		on(t, families(t), test)
		return
	}
	on(t, variants(t), test)
}

// onFamilies runs a test that takes long on one variant of each family, and in
// CI on every variant.
func onFamilies(t *testing.T, test func(t *testing.T, variant string)) { on(t, families(t), test) }

func on(t *testing.T, names []string, test func(t *testing.T, variant string)) {
	for _, v := range names {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			test(t, v)
		})
	}
}
