package std

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/servers/netconn"
)

// server is an http.Server on the connections of a hub.
type server struct {
	hub  *netconn.Hub
	http http.Server
	site *weighstone.Site
	pool sync.Pool // of *exchange
}

// New makes a server; it starts nothing.
func New(o weighstone.Options) weighstone.Server {
	s := &server{hub: netconn.NewHub(o)}
	s.hub.Judge = judge
	s.pool.New = func() any { return new(exchange) }
	s.http = http.Server{
		Handler:                      s,
		MaxHeaderBytes:               max(s.hub.Limits.MaxHeader-slack, 1),
		DisableGeneralOptionsHandler: true,
		ConnContext:                  withConn,
		ConnState:                    connState,
		ErrorLog:                     slog.NewLogLogger(s.hub.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// judge refuses a HEAD whose target net/http would refuse, since that sends a
// body with its refusal (server.go, conn.serve).
func judge(head *http1.Request) (status int) {
	if string(head.Method) != http.MethodHead {
		return 0
	}
	if _, err := url.ParseRequestURI(string(head.Target)); err != nil {
		return http.StatusBadRequest
	}
	return 0
}

// slack is what net/http adds to MaxHeaderBytes, in bytes (server.go,
// initialReadLimitSize).
const slack = 4096

// connKey is the context key of the connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	conn := c.(*netconn.Conn)
	conn.RefuseAlike()
	conn.Exchange = new(values)
	return context.WithValue(ctx, connKey{}, conn)
}

func connState(c net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		c.(*netconn.Conn).End()
	}
}

// Serve implements weighstone.Server.
func (s *server) Serve(listeners []int, site *weighstone.Site) error {
	s.site = site
	list, err := s.hub.Listen(listeners, site)
	if err != nil {
		return fmt.Errorf("serve with net/http: %w", err)
	}
	err = s.hub.Run(list, func(l *netconn.Listener) error { return s.http.Serve(l) })
	if err != nil {
		return fmt.Errorf("serve with net/http: %w", err)
	}
	return nil
}

// Drain implements weighstone.Server. Shutdown of net/http comes last: it
// closes idle connections at once, and so loses a request that is on its way.
func (s *server) Drain(ctx context.Context) error {
	err := s.hub.Drain(ctx)
	if closing := s.http.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) && err == nil {
		err = fmt.Errorf("close net/http: %w", closing)
	}
	return err
}

// Stats implements weighstone.Server.
func (s *server) Stats() weighstone.Stats { return s.hub.Stats() }
