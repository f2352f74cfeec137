package main

import (
	"github.com/weighstone/weighstone/cmd/internal/inside"
	"github.com/weighstone/weighstone/cmd/internal/worker"
	"github.com/weighstone/weighstone/servers"
)

// workerCmd is this program as a worker that runs a library's engine.
type workerCmd struct {
	Args []string `arg:"" passthrough:""`
}

// Run serves as the master says.
func (c *workerCmd) Run(s *streams) error { return worker.Run(c.Args, engines(), inside.Parts, s.err) }

// engines are the servers that this program can be a worker with.
func engines() map[string]worker.Engine {
	all := worker.Engines()
	for _, v := range servers.All() {
		if v.Family != servers.Process {
			all[v.Name] = v.New
		}
	}
	return all
}
