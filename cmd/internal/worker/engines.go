package worker

import (
	"github.com/weighstone/weighstone/servers/process"
	"github.com/weighstone/weighstone/servers/thread"
)

// Engines are those of a worker that is started for a connection or at a load's
// rise. They have one connection at a time.
func Engines() map[string]Engine {
	return map[string]Engine{process.SoleEngine: thread.NewSole, process.GivenEngine: thread.NewGiven}
}
