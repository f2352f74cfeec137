package wire

import (
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
)

// A Cache keeps complete replies in front of the routes, each under the method,
// target and host of its request, exactly as they were sent; and under the
// whole heads that asked for it, so that a client that repeats itself, as most
// do, is answered without its head being parsed.
//
// It belongs to one goroutine, but for [Cache.Empty]. It takes no more memory
// than its budget: what it holds stands on two shelves, and when the younger is
// full the older one is dropped and takes its place; what is asked for again
// meanwhile moves to the younger one.
type Cache struct {
	room       int // of one shelf, in bytes
	young, old *shelf
	empty      atomic.Bool // everything is to be forgotten
}

// A shelf holds what was asked for since it was put up.
type shelf struct {
	heads   map[string]*known
	replies map[string]*stored
	bytes   int // that all it was ever given takes; what is replaced counts on
}

// A stored reply is what follows the status line, Server, Date and Connection.
type stored struct {
	key   string
	page  *weighstone.Page // that it was made of
	tail  []byte
	sent  int64     // of the tail, how many bytes are body
	until time.Time // when it must be asked for again
}

// A known head is one that was parsed before, with what it came to.
type known struct {
	text  string
	reply *stored
	minor uint8
	keep  bool
}

// storedOverhead is about what a map's slot, a struct and its strings take
// beside the bytes of head or reply.
const storedOverhead = 256

// NewCache makes an empty cache of so many bytes.
func NewCache(budget int) *Cache {
	c := &Cache{room: budget / 2}
	c.forget()
	return c
}

// Empty makes the cache forget all it has before it answers again. Any
// goroutine may call it.
func (c *Cache) Empty() { c.empty.Store(true) }

// obey forgets everything if it was told to.
func (c *Cache) obey() {
	if c.empty.Load() {
		c.empty.Store(false)
		c.forget()
	}
}

func (c *Cache) forget() { c.young, c.old = newShelf(), newShelf() }

func newShelf() *shelf { return &shelf{heads: map[string]*known{}, replies: map[string]*stored{}} }

// head returns what is known of a head, nil for nothing.
func (c *Cache) head(text []byte) *known {
	c.obey()
	k := c.young.heads[string(text)]
	if k == nil {
		if k = c.old.heads[string(text)]; k != nil {
			c.know(k)
		}
	}
	return k
}

// reply returns the reply stored under key, nil for none.
func (c *Cache) reply(key []byte) *stored {
	c.obey()
	r := c.young.replies[string(key)]
	if r == nil {
		if r = c.old.replies[string(key)]; r != nil {
			c.put(r)
		}
	}
	return r
}

// put stores r in the place of what has its key.
func (c *Cache) put(r *stored) {
	size := len(r.key) + len(r.tail) + storedOverhead
	c.makeRoom(size)
	c.young.replies[r.key] = r
	c.young.bytes += size
}

// know remembers k. Its reply stands on the same shelf, so that no head keeps a
// reply that is no longer counted.
func (c *Cache) know(k *known) {
	size := len(k.text) + storedOverhead
	c.makeRoom(size)
	c.young.heads[k.text] = k
	c.young.bytes += size
	if c.young.replies[k.reply.key] != k.reply {
		c.put(k.reply)
	}
}

func (c *Cache) makeRoom(size int) {
	if c.young.bytes+size > c.room {
		c.young, c.old = newShelf(), c.young
	}
}
