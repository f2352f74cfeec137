package servertest_test

import (
	"testing"

	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/servertest"
)

// engines are all the servers there are.
func engines() []servertest.Engine {
	var all []servertest.Engine
	for _, v := range servers.All() {
		all = append(all, servertest.Engine{Name: v.Name, New: v.New})
	}
	return all
}

// onEach runs a test on every engine.
func onEach(t *testing.T, test func(t *testing.T, e servertest.Engine)) {
	for _, e := range engines() {
		t.Run(e.Name, func(t *testing.T) { test(t, e) })
	}
}
