package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/weighstone/weighstone/internal/sys"
)

// TestPinnedProcesses: the loop of each process is bound to a core of its own,
// and nothing else of it.
func TestPinnedProcesses(t *testing.T) {
	t.Parallel()
	cores := sys.Cores()
	if len(cores) < 2 {
		if os.Getenv("CI") == "true" {
			t.Fatal("two cores are needed")
		}
		t.Skip("two cores are needed: on one there is nothing to tell apart")
	}
	s := serve(t, "symped", "--workers", "2", "--pin")
	allowed := regexp.MustCompile(`(?m)^Cpus_allowed_list:\t(.*)$`)
	bound := func() (all []string) {
		for _, p := range childrenOf(s.pid) {
			files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if b, err := os.ReadFile(f); err == nil {
					if m := allowed.FindSubmatch(b); m != nil && regexp.MustCompile(`^\d+$`).Match(m[1]) {
						all = append(all, string(m[1]))
					}
				}
			}
		}
		slices.Sort(all)
		return all
	}
	want := []string{fmt.Sprint(cores[0]), fmt.Sprint(cores[1])}
	slices.Sort(want)
	eventually(t, fmt.Sprintf("the bound threads are those of cores %v", want), func() bool { return slices.Equal(bound(), want) })
}
