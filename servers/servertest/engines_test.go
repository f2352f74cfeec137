package servertest_test

import (
	"os"
	"slices"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/servertest"
)

// engines are all the servers that run here.
func engines() []servertest.Engine {
	var all []servertest.Engine
	for _, v := range servers.All() {
		if v.Runs() == nil {
			all = append(all, engine(&v))
		}
	}
	return all
}

func engine(v *servers.Variant) servertest.Engine {
	e := servertest.Engine{Name: v.Name, New: v.New, Alone: v.Concurrent == servers.One && !v.Keepalive}
	if v.Procs != nil {
		e.Procs = v.Procs(0, weighstone.Knobs{})
	}
	return e
}

// onEach runs a test on every engine. One that this machine refuses is skipped
// with the reason: whether there is io_uring is the kernel's choice.
func onEach(t *testing.T, test func(t *testing.T, e servertest.Engine)) {
	on(t, servers.All(), test)
}

// onFamilies runs a test that takes long on one engine of each family, the
// plainest: the others have most of their code from it. With CI=true it runs on
// all, but not under the race detector, which a family's code needs to pass
// once.
func onFamilies(t *testing.T, test func(t *testing.T, e servertest.Engine)) {
	if os.Getenv("WEIGHSTONE_SOAK") != "" || os.Getenv("CI") == "true" && !raced {
		onEach(t, test)
		return
	}
	plainest := []string{"nethttp", "epoll", "uring", "thread-pool", "symped"}
	var chosen []servers.Variant
	for _, v := range servers.All() {
		if slices.Contains(plainest, v.Name) {
			chosen = append(chosen, v)
		}
	}
	on(t, chosen, test)
}

func on(t *testing.T, variants []servers.Variant, test func(t *testing.T, e servertest.Engine)) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			if err := v.Runs(); err != nil {
				t.Skip(err)
			}
			test(t, engine(&v))
		})
	}
}
