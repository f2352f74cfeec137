package upstream

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// Options say how applications are asked, and within which bounds. The zero
// value speaks FastCGI.
type Options struct {
	Protocol Protocol
	// Root is DOCUMENT_ROOT; empty for none.
	Root string
	// Env are variables for workers, NAME=value. They have nothing else.
	Env []string
	// Workers is how many processes each program is given; 0 means 4.
	Workers int
	// Connections bounds those to an application that runs already; 0 means
	// 16.
	Connections int
	// Queue bounds the requests that wait for an application; 0 means 1,024,
	// and less than 0 none.
	Queue int
	// Timeout bounds a request from when it is sent, and the wait before; 0
	// means 30 s.
	Timeout time.Duration
	// Log receives what applications write to standard error, and their
	// faults; nil discards both.
	Log *slog.Logger
	// Crashed is called when a worker has ended badly that was not told to; nil
	// tells nobody. It may be called by many goroutines.
	Crashed func()
	// Site returns the site that answers local redirects; nil answers them
	// with 500.
	Site func() *weighstone.Site
}

// filled returns o with its zero fields set to the defaults.
func (o Options) filled() Options {
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&o.Workers, 4)
	def(&o.Connections, 16)
	def(&o.Queue, 1024)
	o.Queue = max(o.Queue, 0)
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	return o
}

// A Protocol is what an application speaks.
type Protocol uint8

// The protocols.
const (
	FastCGI Protocol = iota
	SCGI
)

// String returns the protocol's name.
func (p Protocol) String() string {
	if p == SCGI {
		return "SCGI"
	}
	return "FastCGI"
}

// newCodec makes what speaks the protocol on one connection at a time.
func (p Protocol) newCodec() codec {
	if p == SCGI {
		return new(scgiCodec)
	}
	return new(fcgiCodec)
}

// route returns the route of a gateway.
func route(pattern string, methods weighstone.Methods, h weighstone.Handler) weighstone.Route {
	return weighstone.Route{Pattern: pattern, Methods: methods, Body: weighstone.BodyStreamed, Waits: true, Handler: h}
}

// refuse answers that the application could not be asked because of err.
func refuse(x *weighstone.Exchange, err error) {
	for _, busy := range []error{errFull, errLate, errDown, errClosed, gateway.ErrBusy} {
		if errors.Is(err, busy) {
			gateway.RefuseBusy(x)
			return
		}
	}
	if errors.Is(err, errLeft) {
		gateway.Refuse(x, http.StatusGatewayTimeout)
		return
	}
	gateway.Refuse(x, http.StatusBadGateway)
}
