// Package static answers with the files below one or more directories: small
// ones from memory, larger ones as open descriptors that an engine hands to
// sendfile. It does conditional requests (RFC 9110 section 13) and ranges
// (section 14), redirects a directory to its slash, and never lists one.
//
// Files whose path has a segment that begins with a dot are not there for it;
// nor is anything that a symbolic link leads to outside the directory, nor
// what is not a regular file.
package static

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
)

// Options say what a handler serves.
type Options struct {
	// Roots are the directories, searched in order: what is in an earlier one
	// shadows the same path in a later one. They are opened once, so that a
	// directory that is renamed afterwards is still served.
	Roots []string

	// MemoryLimit is the largest file served from memory, in bytes. 0 means
	// 64 KiB, a negative limit none at all.
	MemoryLimit int64

	// MemoryTotal bounds the memory that files take together, in bytes, with
	// what the handler needs beside each; files that do not fit are sent from
	// disk. 0 means 64 MiB.
	MemoryTotal int64

	// Descriptors is how many files that are not kept in memory stay open
	// between requests; 0 for none.
	Descriptors int

	// Override names a file, beginning with a dot, that is looked up for every
	// request in each directory from the root down to that of the path, as
	// Apache looks for .htaccess. Nothing is done with what stands in it: one
	// that has more than comments (lines that begin with "#") and empty lines
	// is answered 500, for the reply would not be what its author wants. Empty
	// for none.
	Override string

	// Log receives what an operator must know; nil discards it.
	Log *slog.Logger
}

const (
	defaultMemoryLimit = 64 << 10
	defaultMemoryTotal = 64 << 20

	// checkEvery is how long a file in memory is taken to be unchanged.
	checkEvery = time.Second

	// indexName is the file that stands for its directory.
	indexName = "index.html"
)

// A Handler serves files to any number of goroutines. It implements
// [weighstone.Handler] and blocks for nothing but the file system.
type Handler struct {
	roots    []*os.Root
	limit    int64
	cache    *cache
	spare    atomic.Int64 // files that may still be kept open
	override string
	log      *slog.Logger
	now      func() time.Duration // since the handler was made

	complained atomic.Int64 // when a failure was last logged, as now gives it
}

// New opens the roots. It fails when there is none, or one is not a directory
// that can be opened.
func New(opts Options) (*Handler, error) {
	if len(opts.Roots) == 0 {
		return nil, fmt.Errorf("serve files: no directory given")
	}
	if name := opts.Override; name != "" && (name[0] != '.' || strings.ContainsAny(name, "/\x00") || strings.Trim(name, ".") == "") {
		return nil, fmt.Errorf("serve files: the override file %q must have a name that begins with a dot, so that it is not served itself", name)
	}
	if opts.MemoryLimit == 0 {
		opts.MemoryLimit = defaultMemoryLimit
	}
	if opts.MemoryTotal == 0 {
		opts.MemoryTotal = defaultMemoryTotal
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	start := time.Now()
	h := &Handler{
		limit: opts.MemoryLimit, override: opts.Override,
		cache: newCache(opts.MemoryTotal),
		log:   opts.Log,
		now:   func() time.Duration { return time.Since(start) },
	}
	h.spare.Store(int64(opts.Descriptors))
	h.complained.Store(int64(-checkEvery))
	for _, dir := range opts.Roots {
		root, err := os.OpenRoot(dir)
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("serve files: %w", err)
		}
		h.roots = append(h.roots, root)
	}
	return h, nil
}

// Close gives back the descriptors of the roots and of what is kept open. No
// exchange may be served
// during or after it; files that exchanges still send are not touched.
func (h *Handler) Close() error {
	first := h.cache.close()
	for _, root := range h.roots {
		if err := root.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Serve answers x with the file at x.In.Path, which [weighstone.Site.Find] has
// decoded and normalised.
func (h *Handler) Serve(x *weighstone.Exchange) {
	if h.override != "" && !h.passes(x) {
		return
	}
	e := h.cache.get(x.In.Path)
	if e == nil {
		h.open(x)
		return
	}
	fresh, ok := h.current(e)
	switch {
	case !ok:
		h.open(x)
	case e.file != nil:
		answer(x, &e.facts, disk{file: e.file, shared: true})
	case unconditional(x.In.Fields):
		x.SendPage(e.page)
		if h.override == "" { // else it is looked up for every request
			x.Out.Fresh = fresh
		}
	default:
		answer(x, &e.facts, memory{e.page})
	}
}

// current says whether e still stands for what its path names, and how long
// that will be taken for granted. Once a second one caller goes and looks; the
// others go on with what there is.
func (h *Handler) current(e *entry) (fresh time.Duration, ok bool) {
	now, last := int64(h.now()), e.checked.Load()
	switch {
	case now-last < int64(checkEvery):
		return checkEvery - time.Duration(now-last), true
	case !e.checked.CompareAndSwap(last, now):
		return 0, true
	case h.unchanged(e):
		return checkEvery, true
	}
	h.forget(e)
	return 0, false
}

// forget drops e from the cache. A file that it kept open is closed by the
// collector when the last exchange that sends it is over.
func (h *Handler) forget(e *entry) {
	if h.cache.drop(e) && e.file != nil {
		h.spare.Add(1)
	}
}

// unchanged looks whether the path of e still names the version in memory.
func (h *Handler) unchanged(e *entry) bool {
	if e.unsettled {
		return false
	}
	for _, root := range h.roots[:e.root] {
		if _, err := root.Stat(e.name); verdictOn(err) != absent {
			return false
		}
	}
	info, err := h.roots[e.root].Stat(e.name)
	return err == nil && versionOf(info) == e.version
}
