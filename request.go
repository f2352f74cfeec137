package weighstone

import (
	"io"
	"net/netip"
)

// A Request views bytes that the engine owns: read-only, valid until the
// exchange ends. (On net/http the views alias strings, and writing to one
// crashes.)
type Request struct {
	Method []byte // as sent; method names are case-sensitive
	Target []byte // the raw request target, of any form of RFC 9112 section 3.2
	Host   []byte // the Host field; Site overrides it for an absolute-form target

	Verb  Methods // the method as one bit, 0 when unknown; set by [Site.Find]
	Path  []byte  // decoded, normalised, begins with "/"; set by [Site.Find]
	Query []byte  // raw, without "?"; set by [Site.Find]

	Minor  uint8  // the version is HTTP/1.Minor
	Fields Fields // the header lines, asked for by name

	// Body is nil when there is none. Reading may block only in an exchange
	// that was announced as waiting; it returns io.EOF at the end, and
	// another error if the body is malformed, too large, late or cut short.
	Body   io.Reader
	Length int64 // of the body in bytes, 0 for none, -1 when not announced (chunked)

	Local, Remote netip.AddrPort

	// Gone is closed when the client is known to have left: a reset, or its
	// end of stream, which a half-closed client sends too. A handler that
	// may wait should then give up within some seconds. Nil when the engine
	// cannot tell, and on routes that do not wait.
	Gone <-chan struct{}
}

// HasBody says whether the request has a body of at least one byte, or one of
// unknown length.
func (r *Request) HasBody() bool { return r.Length != 0 }

// Droppable says whether a body that nobody reads is known to be short and on
// its way, so that it is cheaper to read and drop it than to close the
// connection. A client that waits for a 100 is not sending.
func (r *Request) Droppable() bool {
	return r.Length > 0 && r.Length <= MaxBuffered && r.Fields.Get("Expect") == nil
}

// An Interrupter is a Body whose waiting Read another goroutine can end: from
// then on every Read returns an error at once. A gateway reads the body in a
// goroutine of its own, until the handler returns or the stream that it sent
// is closed; Interrupt lets it answer at once when the body is not wanted.
type Interrupter interface{ Interrupt() }

// Fields are the header lines of a request, in whatever form the engine keeps
// them.
type Fields interface {
	// Get returns the value of the first line with this name, without outer
	// white space; nil when there is none. The name is in canonical form
	// ("If-None-Match"), the comparison ignores case.
	Get(name string) []byte
	// Each hands every line to sink, in order where the engine knows it.
	Each(sink FieldSink)
}

// A FieldSink receives header lines, or CGI variables. It is an interface and
// not an iterator since ranging through an interface costs three allocations.
type FieldSink interface {
	// Field receives one pair; both are valid during the call only.
	Field(name, value []byte)
}
