package static

import (
	"hash/maphash"
	"maps"
	"os"
	"sync"
	"sync/atomic"

	"github.com/weighstone/weighstone"
)

// An entry is one file, in memory or open, under one path. It never changes, but for
// when it was last checked; a new version of the file is a new entry.
type entry struct {
	path string // as requested
	root int    // where it was found
	name string // in that root
	version
	unsettled bool // so young that a later change could look the same

	facts facts
	page  *weighstone.Page // nil if it is open
	file  *os.File

	checked atomic.Int64 // when it was last found unchanged, as Handler.now gives it
}

// entryOverhead is about what an entry takes beside its content, in bytes:
// the page's header lines twice, strings, two maps' slots. It also keeps
// empty files from growing the cache without bound.
const entryOverhead = 1 << 10

// cost is what e counts for in the budget, in bytes.
func (e *entry) cost() int64 {
	if e.page == nil {
		return costOf(e.path, 0)
	}
	return costOf(e.path, int64(len(e.page.Bytes)))
}

func costOf(path string, size int64) int64 { return size + int64(len(path)) + entryOverhead }

// shards is how many maps there are, so that adding one of n entries copies
// n/256 and not n.
const shards = 256

// A cache holds entries by path. Reading takes no lock: each shard is a map
// that is never written to again but replaced by a changed copy.
type cache struct {
	seed  maphash.Seed
	shard [shards]atomic.Pointer[map[string]*entry]

	mu     sync.Mutex // held by writers
	used   int64      // in bytes
	budget int64
}

func newCache(budget int64) *cache {
	c := &cache{seed: maphash.MakeSeed(), budget: budget}
	for i := range c.shard {
		c.shard[i].Store(&map[string]*entry{})
	}
	return c
}

// get returns the entry for path, nil when there is none.
func (c *cache) get(path []byte) *entry {
	m := c.shard[maphash.Bytes(c.seed, path)%shards].Load()
	return (*m)[string(path)] // the conversion in an index expression copies nothing
}

// fits says whether a file of size bytes could be added now.
func (c *cache) fits(path string, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used+costOf(path, size) <= c.budget
}

// put adds e in the place of what has the same path, which it returns, if it
// fits.
func (c *cache) put(e *entry) (before *entry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shard := &c.shard[maphash.String(c.seed, e.path)%shards]
	old := *shard.Load()
	used := c.used + e.cost()
	if before = old[e.path]; before != nil {
		used -= before.cost()
	}
	if used > c.budget {
		return nil, false
	}
	changed := maps.Clone(old)
	changed[e.path] = e
	shard.Store(&changed)
	c.used = used
	return before, true
}

// drop removes e, unless its path has another entry by now, and says whether it
// has.
func (c *cache) drop(e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	shard := &c.shard[maphash.String(c.seed, e.path)%shards]
	old := *shard.Load()
	if old[e.path] != e {
		return false
	}
	changed := maps.Clone(old)
	delete(changed, e.path)
	shard.Store(&changed)
	c.used -= e.cost()
	return true
}

// close closes the files that are kept open.
func (c *cache) close() (first error) {
	for i := range c.shard {
		for _, e := range *c.shard[i].Load() {
			if e.file == nil {
				continue
			}
			if err := e.file.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
