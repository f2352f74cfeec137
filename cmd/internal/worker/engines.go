package worker

import (
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/process"
	"github.com/weighstone/weighstone/servers/thread"
)

// Engines are those that a worker links which is started for a connection or
// at a load's rise: this project's own. The libraries' take longer to load.
func Engines() map[string]Engine {
	return map[string]Engine{"epoll": loop.NewEpoll, process.SoleEngine: thread.NewSole, process.GivenEngine: thread.NewGiven}
}
