// Package wasm answers exchanges by WebAssembly modules within the process. A
// module is a CGI program (RFC 3875) for WASI preview 1: it reads the body
// from standard input, finds the variables in its environment, and writes
// header and body to standard output. It can reach nothing else: no file, no
// socket, no memory but its own.
//
// A module is compiled to machine code once. Each exchange gets an instance of
// its own, so nothing of one request is there for the next.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
	"github.com/weighstone/weighstone/handlers/script"
	"github.com/weighstone/weighstone/internal/seats"
)

// Options say which modules a Handler runs, and within which bounds.
type Options struct {
	// Dir has modules of the user, NAME.wasm, which come before the built-in
	// ones and are compiled again when they change; empty for none.
	Dir string
	// Prefix is the path below which modules are found, by their names without
	// the ending; empty means /wasm/.
	Prefix string
	// Timeout bounds the time of a module, and the wait for its turn; 0 means
	// 10 s.
	Timeout time.Duration
	// Memory bounds the memory of an instance, in bytes, which are rounded up
	// to pages of 64 KiB; 0 means 64 MiB.
	Memory int64
	// Instances bounds how many modules run at a time; 0 means four for each
	// processor that Go may use.
	Instances int
	// Site returns the site that answers local redirects; nil answers them with
	// 500. It can also be set later, by UseSite.
	Site func() *weighstone.Site
	// Log receives what modules write to standard error, and their faults;
	// nil discards both.
	Log *slog.Logger
}

// A Handler runs modules for any number of goroutines. It implements
// [weighstone.Handler] on routes that wait.
type Handler struct {
	opts    Options
	modules *script.Library[wazero.CompiledModule]
	pool    *seats.Pool[seat]
	host    *gateway.Host
	runtime wazero.Runtime      // nil until a module was compiled
	config  wazero.ModuleConfig // of every instance
}

// New makes a handler. It compiles nothing before the first request.
func New(o Options) (*Handler, error) {
	if o.Prefix == "" {
		o.Prefix = "/wasm/"
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.Instances == 0 {
		o.Instances = 4 * runtime.GOMAXPROCS(0)
	}
	h := &Handler{opts: o, host: gateway.NewHost("WebAssembly", o.Log, o.Site)}
	var err error
	if h.modules, err = script.NewLibrary("WebAssembly module", builtins{}, o.Dir, ".wasm", h.compile); err != nil {
		return nil, fmt.Errorf("run WebAssembly modules: %w", err)
	}
	h.pool = seats.New(o.Instances, func() (*seat, error) { return new(seat), nil })
	return h, nil
}

// Routes returns the route on which the handler is to be found.
func (h *Handler) Routes() []weighstone.Route {
	return []weighstone.Route{{
		Pattern: h.opts.Prefix, Methods: weighstone.GET | weighstone.HEAD | weighstone.POST, Body: weighstone.BodyStreamed, Waits: true, Handler: h,
	}}
}

// UseSite says which site answers local redirects, before the first exchange.
func (h *Handler) UseSite(site func() *weighstone.Site) { h.host.Site = site }

// Close frees the compiled modules. No exchange may be served during or after
// it.
func (h *Handler) Close() error {
	err := h.modules.Close()
	if h.runtime != nil {
		err = errors.Join(err, h.runtime.Close(context.Background()))
	}
	return err
}

// Serve answers x by the module that its path names. The body is read before
// the module runs, so that no instance waits for a client.
func (h *Handler) Serve(x *weighstone.Exchange) {
	module, c, ok := h.modules.Begin(x, h.opts.Prefix, h.opts.Timeout, h.host.Log)
	if !ok {
		return
	}
	defer c.Close()
	c.Script.Interface = cgi.Interface
	out := &finished{}
	err := h.seated(x, module, c, out)
	switch {
	case errors.Is(err, errBusy):
		x.Fail(http.StatusServiceUnavailable)
		x.AddField("Retry-After", "1")
	case err != nil:
		out.Free()
		h.host.Log.Error("WebAssembly module failed", "script", c.Script.Name, "err", err)
		x.Fail(statusFor(err))
	default:
		h.host.Answer(x, c.Script.Name, out, nil)
	}
}

// errBusy says that no instance became free in time.
var errBusy = errors.New("no instance is free")

// seated runs a module to its end when there is room. The room is free again
// before x is answered, since a local redirect may ask for it.
func (h *Handler) seated(x *weighstone.Exchange, module wazero.CompiledModule, c script.Call, out *finished) error {
	s, err := h.pool.Take(c.Deadline, x.In.Gone)
	if err != nil {
		return errBusy
	}
	defer h.pool.Put(s)
	if err := h.run(x, module, s, c, out); err != nil {
		return err
	}
	return out.begin()
}

// statusFor returns the status that answers why a module did not end well.
func statusFor(err error) int {
	var exit *sys.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == sys.ExitCodeDeadlineExceeded || exit.ExitCode() == sys.ExitCodeContextCanceled) {
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
