package fast

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// An Engine runs a fasthttp.Server on the connections of a hub.
type Engine struct {
	hub  *netconn.Hub
	http *fasthttp.Server
	name string
	site *weighstone.Site
	pool sync.Pool // of *Exchange
}

// New makes a server; it starts nothing.
func New(o weighstone.Options) weighstone.Server {
	s := new(fasthttp.Server)
	e := NewEngine("fasthttp", o, s)
	s.Handler = e.Reply
	return e
}

// Reply is the handler of fasthttp.
func (e *Engine) Reply(ctx *fasthttp.RequestCtx) {
	x := e.Begin(ctx)
	e.Answer(x, e.Find(x))
}

// NewEngine makes an engine of s, whose Handler the caller sets, and configures
// it. The name is for errors.
func NewEngine(name string, o weighstone.Options, s *fasthttp.Server) *Engine {
	e := &Engine{hub: netconn.NewHub(o), http: s, name: name}
	e.hub.Judge = judge
	e.pool.New = func() any { return new(Exchange) }
	s.Name = weighstone.Software
	s.NoDefaultServerHeader = false
	s.NoDefaultContentType = true
	s.NoDefaultDate = false
	s.DisablePreParseMultipartForm = true
	s.StreamRequestBody = true
	// Not a limit, since bodies stream: how much of a body the library reads
	// before it calls the handler, who must be able to refuse at once.
	s.MaxRequestBodySize = 1
	s.ReadBufferSize = e.hub.Limits.MaxHeader
	s.WriteBufferSize = writeBuffer
	s.Concurrency = 1 << 30 // the hub bounds connections
	s.MaxIdleWorkerDuration = workerIdle
	s.CloseOnShutdown = true
	s.HeaderReceived = headerReceived
	s.ExpectHandler = e.expect
	s.ErrorHandler = e.refuse
	s.ConnState = connState
	s.Logger = logger{e.hub.Log}
	return e
}

// writeBuffer holds a reply of up to that many bytes, head and body, so that it
// takes one system call. The library's writev is for a bare net.TCPConn only.
const writeBuffer = 8 << 10

// workerIdle is how long the library keeps a goroutine without a connection.
// Its janitor sleeps that long, also when the server has stopped.
const workerIdle = 100 * time.Millisecond

func connState(c net.Conn, state fasthttp.ConnState) {
	if state == fasthttp.StateIdle {
		c.(*netconn.Conn).End()
	}
}

// Site is the site being served.
func (e *Engine) Site() *weighstone.Site { return e.site }

// Serve implements weighstone.Server.
func (e *Engine) Serve(listeners []int, site *weighstone.Site) error {
	e.site = site
	list, err := e.hub.Listen(listeners, site)
	if err != nil {
		return fmt.Errorf("serve with %s: %w", e.name, err)
	}
	err = e.hub.Run(list, func(l *netconn.Listener) error { return e.http.Serve(l) })
	time.Sleep(2 * workerIdle) // until the janitors are gone
	if err != nil {
		return fmt.Errorf("serve with %s: %w", e.name, err)
	}
	return nil
}

// Drain implements weighstone.Server. Shutdown of fasthttp comes last: it
// closes idle connections at once, and so loses a request that is on its way.
func (e *Engine) Drain(ctx context.Context) error {
	err := e.hub.Drain(ctx)
	if closing := e.http.ShutdownWithContext(ctx); closing != nil && !errors.Is(closing, net.ErrClosed) && err == nil {
		err = fmt.Errorf("close %s: %w", e.name, closing)
	}
	return err
}

// Stats implements weighstone.Server.
func (e *Engine) Stats() weighstone.Stats { return e.hub.Stats() }

// A logger passes on what the library says of single connections, which is of
// no interest to an operator.
type logger struct{ log *slog.Logger }

func (l logger) Printf(format string, args ...any) {
	l.log.Debug(fmt.Sprintf(format, args...))
}
