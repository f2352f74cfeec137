// Package store answers with documents from an embedded database, SQLite:
// each reply is read from the database when it is asked for, as Lotus Domino
// did with the pages of a Notes database. Documents have two URLs: by path,
// and a long one by numbers (fixtures.DocumentURL).
//
// Readers are prepared statements on read-only connections. A reply is one
// row of one statement, so it is of one version of the content, whole,
// whoever replaces the content meanwhile ([Load]). The database is in SQLite's
// write-ahead mode, since with its rollback journal a writer shuts out all
// readers while it commits.
package store

import (
	"bytes"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/fixtures"
)

// Options say which database a Handler reads.
type Options struct {
	// Fixtures is the directory of the fixtures.
	Fixtures string
	// File is the database; empty means [Name] in the directory of the
	// fixtures. One that is not there is made of the fixtures when it is
	// first asked for. The directory's own is made again whenever it holds
	// anything else; any other must hold what was last loaded into it.
	File string
	// Prefix is the path below which documents are found; empty means /db/.
	Prefix string
	// Log receives what an operator must know; nil discards it.
	Log *slog.Logger
}

// Name is what the database in the directory of the fixtures is called.
const Name = "fixtures.db"

// A Handler serves documents to any number of goroutines. It opens the
// database at the first request, so that a process that is never asked pays
// nothing. It implements [weighstone.Handler].
type Handler struct {
	opts    Options
	numbers []byte // what the rest of a long URL begins with
	log     *slog.Logger

	ready atomic.Pointer[reader]
	mu    sync.Mutex // held while the database is opened
	tried time.Time  // when that failed last
	why   error      // how
}

// New makes a handler, and touches no file.
func New(opts Options) *Handler {
	if opts.Prefix == "" {
		opts.Prefix = "/db/"
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{opts: opts, log: opts.Log, numbers: []byte(fixtures.Database() + ".nsf/")}
}

// Routes returns the route on which the handler is to be found.
//
// Its handler does not wait: a document that is in SQLite's or the system's
// cache is read in some 20 us, which is what it costs an event loop to give
// the connection away and take it back; and a reader never waits for a writer.
// A loop blocks for the disk, as it does for a file. Only the first request,
// for which the database is opened, and large documents are another's.
func (h *Handler) Routes() []weighstone.Route {
	return []weighstone.Route{{Pattern: h.opts.Prefix, Methods: weighstone.GET | weighstone.HEAD, Slow: h.slow, Handler: h}}
}

// slow says whether a request is to be answered apart from others.
func (h *Handler) slow(in *weighstone.Request) bool {
	r := h.ready.Load()
	return r == nil || len(r.large) > 0 && r.large[h.key(in.Path)]
}

// key is what a path asks for: the address behind the number of the database,
// or the path of a document.
func (h *Handler) key(path []byte) string {
	rest := path[len(h.opts.Prefix):]
	if after, ok := bytes.CutPrefix(rest, h.numbers); ok {
		return string(after)
	}
	if len(rest) == 0 || rest[len(rest)-1] == '/' {
		return string(rest) + "index.html"
	}
	return string(rest)
}

// Close closes the database. No exchange may be served during or after it.
func (h *Handler) Close() error {
	r := h.ready.Swap(nil)
	if r == nil {
		return nil
	}
	r.close()
	return nil
}

// Serve answers x with the document that its path names.
func (h *Handler) Serve(x *weighstone.Exchange) {
	r := h.ready.Load()
	if r == nil {
		var err error
		if r, err = h.open(); err != nil {
			x.Fail(http.StatusServiceUnavailable)
			return
		}
	}
	long := bytes.HasPrefix(x.In.Path[len(h.opts.Prefix):], h.numbers)
	err := r.answer(x, long, h.key(x.In.Path))
	if err != nil {
		h.log.Error("can't read a document", "path", string(x.In.Path), "error", err)
		x.Fail(http.StatusInternalServerError)
	}
}
