package loop

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/stage"
)

// DefaultHelpers is how many threads read files when nothing is said.
const DefaultHelpers = 8

// HelpersOf settles the number of helpers.
func HelpersOf(k weighstone.Knobs) int {
	if k.Helpers > 0 {
		return k.Helpers
	}
	return DefaultHelpers
}

// A fetch is a part of a file that a helper is to read for a connection. The
// loop may close file and connection meanwhile: then it was for nothing.
type fetch struct {
	l      *loop
	c      *conn
	file   *os.File
	offset int64
	length int64
}

// newFetchers starts the helpers. A connection waits for one fetch at a time, so
// the queue has room for as many.
func newFetchers(helpers, conns int, read func(fetch)) *stage.Stage[fetch] {
	return stage.New(stage.Config{Name: "helper", Queue: conns, Min: helpers, Max: helpers}, func() func([]fetch) {
		return func(batch []fetch) {
			for _, f := range batch {
				read(f)
			}
		}
	})
}

// read is what a helper does. It hands over the bytes themselves: pages that it
// only brought into the kernel's memory, as Flash's helpers did, may be gone
// again before the loop comes to them, and there are file systems that can't tell
// whether they are there.
func (f fetch) read() {
	piece := make([]byte, f.length)
	n, _ := f.file.ReadAt(piece, f.offset) // nothing read says enough
	f.l.giveBack(returned{c: f.c, from: helper, rest: piece[:n]})
}

// readNow reads of c's file what is in memory. EAGAIN says that c is cold then: a
// helper must read.
//
// Flash asked mincore(2) about a mapping. That answers "in memory" for every page
// of a file that the server neither owns nor may write (Linux 5.2), which is how
// files are best served; and what it says may be over when the file is sent.
func (l *loop) readNow(c *conn, piece []byte) (n int, errno unix.Errno) {
	n, errno = sys.ReadCached(int(c.rest.File.Fd()), piece, c.rest.Offset)
	if errno == unix.EOPNOTSUPP {
		errno = unix.EAGAIN
	}
	c.cold = errno == unix.EAGAIN
	return n, errno
}

// fetch has a helper read the next bytes of c's file, and forgets c for so long.
func (l *loop) fetch(c *conn) {
	c.cold = false
	c.away = true
	l.away++
	l.io.unwatch(c)
	l.slot.Fetched.Add(1)
	r := &c.rest
	if !l.fetchers.Put(fetch{l: l, c: c, file: r.File, offset: r.Offset, length: min(r.Length, writeStep)}) {
		// The disk has kept as many waiting as there may be connections, and
		// those that gave up still stand in the queue.
		l.log.Error("fetch: the queue of the helpers is full")
		l.away--
		l.destroy(c)
	}
}

// fetched goes on with c, for which a helper has read.
func (l *loop) fetched(c *conn, piece []byte) {
	l.away--
	c.away = false
	if l.conns[c.fd] != c { // it has ended meanwhile
		return
	}
	r := &c.rest
	r.Offset += int64(len(piece))
	r.Length -= int64(len(piece))
	switch {
	case len(piece) == 0: // the file has shrunk, or can't be read
		l.destroy(c)
		return
	case r.Length == 0:
		r.Close()
	}
	r.Page = piece
	l.enter(c, weighstone.StateWrite)
	if l.io.awaitRoom(c) {
		l.writable(c)
	}
}
