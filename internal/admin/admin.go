package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sys/unix"
)

// headerLimit is how long an operator's tool may take to send a head.
const headerLimit = 10 * time.Second

// Options of a [Server].
type Options struct {
	// Facts is asked at each scrape, by many goroutines.
	Facts func() Facts
	// Serving says whether the process takes new work; it does not while it
	// drains.
	Serving func() bool
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// A Server answers operators. It has /health, /metrics and /debug/pprof/.
type Server struct {
	http     *http.Server
	listener net.Listener
}

// New makes a server on the listening socket fd, which stays the caller's.
func New(fd int, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	listener, err := listen(fd)
	if err != nil {
		return nil, fmt.Errorf("serve the admin address: %w", err)
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		newCollector(o.Facts),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			listener.Close()
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", health(o.Serving))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &Server{listener: listener, http: &http.Server{
		Handler: mux, ReadHeaderTimeout: headerLimit, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}}, nil
}

// listen makes a listener of a copy of fd.
func listen(fd int) (net.Listener, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(dup), "admin")
	defer file.Close()
	return net.FileListener(file)
}

// Serve answers until Close. It returns nil then.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the admin address: %w", err)
	}
	return nil
}

// Close ends the server, and lets the replies under way finish for a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close() // a profile takes as long as it was asked to
	}
	if err != nil {
		return fmt.Errorf("close the admin server: %w", err)
	}
	return nil
}

// health answers 200 while the process takes new work, else 503, which takes it
// out of a balancer's turn.
func health(serving func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if !serving() {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, "draining\n")
			return
		}
		io.WriteString(w, "ok\n")
	}
}
