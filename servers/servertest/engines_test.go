package servertest_test

import (
	"os"
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
	e := servertest.Engine{Name: v.Name, New: v.New}
	if v.Procs != nil {
		e.Procs = v.Procs(0, weighstone.Knobs{})
	}
	return e
}

// onEach runs a test on every engine. One that this machine refuses is skipped
// with the reason, or fails the test in CI.
func onEach(t *testing.T, test func(t *testing.T, e servertest.Engine)) {
	for _, v := range servers.All() {
		t.Run(v.Name, func(t *testing.T) {
			switch err := v.Runs(); {
			case err == nil:
				test(t, engine(&v))
			case os.Getenv("CI") == "true":
				t.Fatal(err)
			default:
				t.Skip(err)
			}
		})
	}
}
