package servertest_test

import (
	"runtime"
	"runtime/metrics"
	"strconv"

	"github.com/weighstone/weighstone"
)

// threadObjects is how many objects at most the runtime makes for a thread.
const threadObjects = 8

// heapObjects is how many objects this process has allocated, the tiny ones
// that share a block among them. Reading the old statistics first makes each
// processor hand in what it has counted for itself. The collection before lets
// none fall into what is measured. What the runtime makes when it starts a thread,
// as it sees fit and not for a request, is left out.
func heapObjects() uint64 {
	runtime.GC()
	var flushed runtime.MemStats
	runtime.ReadMemStats(&flushed)
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"}, {Name: "/sched/threads/total:threads"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64() - threadObjects*samples[2].Value.Uint64()
}

// heapPath is where a site tells what its process has allocated.
const heapPath = "/test/heap"

// heapRoute answers with the objects of the process that serves.
func heapRoute() weighstone.Route {
	return weighstone.Route{Pattern: heapPath, Methods: weighstone.GET,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			x.Scratch = strconv.AppendUint(x.Scratch, heapObjects(), 10)
			x.SendScratch("text/plain")
		})}
}
