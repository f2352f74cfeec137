package weighstone

import "strings"

// A Handler says what an exchange means: it reads x.In and fills x.Out.
//
// Serve must not block unless its route Waits or the request has a body under
// policy [BodyStreamed]; must not keep anything of x; and may be called by
// many goroutines with different exchanges.
type Handler interface{ Serve(x *Exchange) }

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(x *Exchange)

// Serve calls f.
func (f HandlerFunc) Serve(x *Exchange) { f(x) }

// Methods is a set of request methods, a bit each.
type Methods uint16

// The methods of RFC 9110 section 9.3 and RFC 5789.
const (
	GET Methods = 1 << iota
	HEAD
	POST
	PUT
	DELETE
	PATCH
	OPTIONS
	TRACE
	CONNECT
)

// methodNames are in the order of the bits.
var methodNames = [...]string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}

// MethodOf returns the bit for a method name, 0 when it is none of the above.
func MethodOf(name []byte) Methods {
	if string(name) == "GET" { // nearly always
		return GET
	}
	for i, known := range methodNames {
		if string(name) == known {
			return 1 << i
		}
	}
	return 0
}

// String lists the methods as an Allow field does: "GET, HEAD".
func (m Methods) String() string {
	var names []string
	for i, name := range methodNames {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A BodyPolicy says what becomes of a request's body on a route.
type BodyPolicy uint8

// The body policies.
const (
	// BodyRefused: the handler never sees a body. A short one (up to
	// [MaxBuffered]) is read and dropped, a longer one is answered 413 and
	// the connection closed.
	BodyRefused BodyPolicy = iota
	// BodyBuffered: the engine reads up to [MaxBuffered] bytes before it
	// calls the handler, which can read them without waiting; more is 413.
	BodyBuffered
	// BodyStreamed: the handler reads the body as it arrives, up to the
	// server's limit, and may wait for it; without a body it does not wait.
	BodyStreamed
)

// MaxBuffered is how many bytes of request body an engine buffers or drops.
const MaxBuffered = 64 << 10

// A Route carries what an engine must know when the head is complete, so that
// it answers 405, 413 or 417, or sends 100, without asking the handler.
type Route struct {
	// Pattern is an absolute path. Ending in "/" it covers everything below,
	// else that path only.
	Pattern string
	Methods Methods // others are answered 405 with Allow; OPTIONS is answered by the site
	Body    BodyPolicy
	// Waits says that the handler may block. A loop then hands the whole
	// connection to a goroutine for the time of the exchange.
	Waits bool
	// Slow says whether the handler may block for this request, on a route
	// where few make it do so; nil for none. It is called when the head is
	// complete, and must not block itself.
	Slow    func(in *Request) bool
	Handler Handler
	// Elsewhere says that another program has the handler: an engine with
	// [Options.Handover] gives it the connection, whatever the request is; with
	// others Handler answers, and the route should wait.
	Elsewhere bool

	allow string // Methods and OPTIONS as text
}

// MayWait says whether an exchange with this request may block: in the handler,
// in its response's stream, or for a body that must be read.
func (r *Route) MayWait(in *Request) bool {
	return r.Waits || r.Slow != nil && r.Slow(in) || r.Body != BodyRefused && in.HasBody() || in.Length < 0
}
