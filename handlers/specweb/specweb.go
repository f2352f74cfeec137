// Package specweb answers the operations of the SPECweb99-style workload, of
// which package fixtures/specweb has the rules: pages made of files, with and
// without a rotating advertisement; forms that are logged under one line of
// numbers for all processes of the server; and the commands to begin anew and to
// fetch the log. The files themselves are served as any others, and the same
// page from a program of its own by a CGI handler.
//
// What is wrong with a request it says by status: 400 for a missing or malformed
// cookie, query or form, 403 for a user that the tables do not know, 404 for a
// file that the set does not have, 409 for an advertisement or a POST before the first
// reset, and for a POST that a reset overtakes. A POST that is answered with anything but 200 has left no record.
package specweb

import (
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// Options say what a handler works with.
type Options struct {
	// Files appends the file at a path of the site to dst, and says with which
	// status it would be answered.
	Files func(dst, path []byte) ([]byte, int)
	// Log opens the log of POSTs, with what all processes know, which stays the
	// caller's. It is called for each request, and is to open it once: a process
	// that is started for one request seldom needs it.
	Log func() (*postlog.Log, error)
	// Fault makes some replies wrong on purpose; the zero value none.
	Fault Fault
	// Errors receives what an operator must know; nil discards it.
	Errors *slog.Logger
}

// A Handler answers the operations to any number of goroutines.
type Handler struct {
	files  func(dst, path []byte) ([]byte, int)
	log    func() (*postlog.Log, error)
	fault  culprit
	errors *slog.Logger
	pid    int
	tables atomic.Pointer[known]
}

// known are the tables that the facts of a generation give.
type known struct {
	facts  postlog.Facts
	tables *rules.Tables
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Errors == nil {
		o.Errors = slog.New(slog.DiscardHandler)
	}
	return &Handler{files: o.Files, log: o.Log, fault: culprit{o.Fault}, errors: o.Errors, pid: os.Getpid()}
}

// Routes returns the routes to put into a site.
//
// Pages do not wait: their files are read as static ones are. A form has a body,
// so its exchange is apart from the loop already when it waits for the log's
// lock.
func (h *Handler) Routes() []weighstone.Route {
	const reads = weighstone.GET | weighstone.HEAD
	return []weighstone.Route{
		{Pattern: rules.GetURL, Methods: reads, Handler: weighstone.HandlerFunc(h.get)},
		{Pattern: rules.AdURL, Methods: reads, Handler: weighstone.HandlerFunc(h.ad)},
		{Pattern: rules.PostURL, Methods: weighstone.POST, Body: weighstone.BodyBuffered, Handler: weighstone.HandlerFunc(h.post)},
		{Pattern: rules.ResetURL, Methods: weighstone.POST, Waits: true, Handler: weighstone.HandlerFunc(h.reset)},
		{Pattern: rules.FetchURL, Methods: reads, Waits: true, Handler: weighstone.HandlerFunc(h.fetch)},
	}
}

// Close has nothing to give back: the log is its owner's.
func (h *Handler) Close() error { return nil }

// get answers with a page of the file that the query names.
func (h *Handler) get(x *weighstone.Exchange) {
	f, ok := rules.ParseQuery(x.In.Query)
	if !ok {
		x.Fail(http.StatusBadRequest)
		return
	}
	h.page(x, rules.GetURL, f, -1)
}

// ad answers with the page and the user's next advertisement in it.
func (h *Handler) ad(x *weighstone.Exchange) {
	f, ok := rules.ParseQuery(x.In.Query)
	v, cookie := rules.ParseVisitor(x.In.Fields.Get("Cookie"))
	if !ok || !cookie {
		x.Fail(http.StatusBadRequest)
		return
	}
	k, log := h.known(x, v)
	if k == nil {
		return
	}
	now := time.Now().Unix()
	shown := h.fault.show(log, k.tables, v, now)
	if h.page(x, rules.AdURL, f, shown.Ad) {
		x.AddField("Set-Cookie", string(shown.AppendSetCookie(nil)))
	}
}

// known returns the tables, in which the visitor's user is, and the log. If that
// can't be, it answers with why and returns nil.
func (h *Handler) known(x *weighstone.Exchange, v rules.Visitor) (*known, *postlog.Log) {
	log := h.opened(x)
	if log == nil {
		return nil, nil
	}
	k := h.tables.Load()
	if k == nil || k.facts.Generation != log.Generation() {
		facts, err := log.Facts()
		if err != nil {
			h.fail(x, err)
			return nil, nil
		}
		if facts.Generation == 0 {
			x.Fail(http.StatusConflict)
			return nil, nil
		}
		k = &known{facts, rules.NewTables(facts.Seed, facts.Users, facts.At)}
		h.tables.Store(k)
	}
	if v.User >= k.tables.Users() {
		x.Fail(http.StatusForbidden)
		return nil, nil
	}
	return k, log
}

// opened returns the log. If that can't be, it answers with why.
func (h *Handler) opened(x *weighstone.Exchange) *postlog.Log {
	log, err := h.log()
	if err != nil {
		h.fail(x, err)
		return nil
	}
	return log
}

// fail answers that the log could not be used, and logs why.
func (h *Handler) fail(x *weighstone.Exchange, err error) {
	h.errors.Error("can't use the log of POSTs", "error", err)
	x.Fail(http.StatusInternalServerError)
}

// page answers with a page of f, with an advertisement in it if ad is not
// negative, and says whether there is that file.
func (h *Handler) page(x *weighstone.Exchange, script string, f rules.File, ad int) bool {
	client := x.In.Remote.Addr().Unmap()
	var address [64]byte
	dst := rules.AppendPageHead(x.Scratch[:0], weighstone.Software, string(client.AppendTo(address[:0])), script, x.In.Query)
	at := len(dst)
	dst, ok := h.file(x, dst, f)
	if !ok {
		return false
	}
	if ad >= 0 {
		rules.Substitute(dst[at:], f, ad)
	}
	x.Scratch = append(dst, rules.PageEnd...)
	x.SendScratch(rules.PageType)
	return true
}

// file appends f to dst; if that can't be, it answers with why.
func (h *Handler) file(x *weighstone.Exchange, dst []byte, f rules.File) ([]byte, bool) {
	var path [64]byte
	dst, status := h.files(dst, f.AppendPath(append(path[:0], rules.Prefix...)))
	if status != http.StatusOK {
		x.Fail(status)
		return nil, false
	}
	return dst, true
}
