package main

import (
	"github.com/weighstone/weighstone/cmd/internal/worker"
	"github.com/weighstone/weighstone/servers"
)

// engines are the servers that this program can be a worker with.
func engines() map[string]worker.Engine {
	all := map[string]worker.Engine{}
	for _, v := range servers.All() {
		if v.Family != servers.Process {
			all[v.Name] = v.New
		}
	}
	return all
}
