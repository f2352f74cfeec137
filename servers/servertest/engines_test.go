package servertest_test

import (
	"testing"

	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// engines are all servers there are.
func engines() []servertest.Engine {
	return []servertest.Engine{
		{Name: "epoll", New: loop.NewEpoll},
		{Name: "poll", New: loop.NewPoll},
	}
}

// onEach runs a test on every engine.
func onEach(t *testing.T, test func(t *testing.T, e servertest.Engine)) {
	for _, e := range engines() {
		t.Run(e.Name, func(t *testing.T) { test(t, e) })
	}
}
