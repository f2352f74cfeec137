// Package lua answers exchanges by scripts in an interpreter within the
// process, as mod_perl, mod_php and AOLserver's Tcl did: a script is compiled
// once, and interpreters are kept for the next request. docs/mechanisms.md has
// what a script can call.
//
// A script shares the process with the server, and so is bounded in time and
// memory; see guard.go for how. It reaches neither files nor other processes.
package lua

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/script"
	"github.com/weighstone/weighstone/internal/seats"
)

//go:embed programs/*.lua
var builtin embed.FS

// Options say which scripts a Handler runs, and within which bounds.
type Options struct {
	// Dir has scripts of the user, NAME.lua, which come before the built-in
	// ones and are compiled again when they change; empty for none.
	Dir string
	// Prefix is the path below which scripts are found, by their names without
	// the ending; empty means /lua/.
	Prefix string
	// Timeout bounds the time of a script, and the wait for an interpreter; 0
	// means 10 s.
	Timeout time.Duration
	// Memory bounds what the values of a script take, in bytes; 0 means 64 MiB.
	Memory int64
	// Interpreters bounds how many scripts run at a time; 0 means four for
	// each processor that Go may use.
	Interpreters int
	// Log receives what scripts log, and their faults; nil discards both.
	Log *slog.Logger
}

// A Handler runs scripts for any number of goroutines. It implements
// [weighstone.Handler] on routes that wait.
type Handler struct {
	opts    Options
	scripts *script.Library[*lua.FunctionProto]
	pool    *seats.Pool[interpreter]
}

// New makes a handler. It starts no interpreter and compiles nothing before
// the first request.
func New(o Options) (*Handler, error) {
	if o.Prefix == "" {
		o.Prefix = "/lua/"
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.Interpreters == 0 {
		o.Interpreters = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	programs, err := fs.Sub(builtin, "programs")
	if err != nil {
		return nil, err
	}
	h := &Handler{opts: o}
	if h.scripts, err = script.NewLibrary("Lua script", programs, o.Dir, ".lua", compile); err != nil {
		return nil, fmt.Errorf("run Lua scripts: %w", err)
	}
	h.pool = seats.New(o.Interpreters, func() (*interpreter, error) { return newInterpreter(o.Memory, o.Log), nil })
	return h, nil
}

// Routes returns the route on which the handler is to be found.
func (h *Handler) Routes() []weighstone.Route {
	return []weighstone.Route{{
		Pattern: h.opts.Prefix, Methods: weighstone.GET | weighstone.HEAD | weighstone.POST, Body: weighstone.BodyStreamed, Waits: true, Handler: h,
	}}
}

// Close ends the interpreters. No exchange may be served during or after it.
func (h *Handler) Close() error {
	h.pool.Close((*interpreter).close)
	return h.scripts.Close()
}

// Serve answers x by the script that its path names. The body is read before
// the script runs, so that no interpreter waits for a client.
func (h *Handler) Serve(x *weighstone.Exchange) {
	proto, c, ok := h.scripts.Begin(x, h.opts.Prefix, h.opts.Timeout, h.opts.Log)
	if !ok {
		return
	}
	defer c.Close()
	it, err := h.pool.Take(c.Deadline, x.In.Gone)
	if err != nil {
		x.Fail(http.StatusServiceUnavailable)
		x.AddField("Retry-After", "1")
		return
	}
	var used *interpreter // what is kept: not one in which a script was stopped
	defer func() { h.pool.Put(used) }()
	err = it.run(x, proto, c)
	if it.broken {
		it.close()
	} else {
		used = it
	}
	if err != nil {
		h.opts.Log.Error("Lua script failed", "script", c.Script.Name, "err", err)
		x.Fail(it.guard.status())
	}
}
