package specweb

import (
	"runtime"
	"runtime/debug"
)

// memory returns what says by how much this program's memory has grown since:
// what is in use of the heap, and the stacks. It collects garbage, so neither is
// called while anything is measured.
func memory() (grown func() int) {
	used := func() int {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc + m.StackInuse)
	}
	before := used()
	return func() int { return used() - before }
}
