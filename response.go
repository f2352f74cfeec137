package weighstone

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// A Response says what to send, never how: no handler writes HTTP. The engine
// adds Date, Server, Connection and the framing fields.
type Response struct {
	Status int     // 0 means 200
	Type   string  // Content-Type; empty for none. A page brings its own
	Extra  []Field // further header lines
	Body   Body
	Close  bool // the connection cannot be kept after this reply

	// Fresh is how long the same request may be answered with the same page
	// without being asked again; 0 for not at all. It says so of a reply with
	// status 200 to a GET or HEAD that depends on nothing but method, target
	// and host.
	Fresh time.Duration
}

// Code returns the status with 0 made 200.
func (r *Response) Code() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

// Bodyless says whether replies of this status have no body and no framing
// fields (RFC 9110 section 6.4.1).
func (r *Response) Bodyless() bool {
	code := r.Code()
	return code < 200 || code == http.StatusNoContent || code == http.StatusNotModified
}

// A Field is one header line of a response.
type Field struct{ Name, Value string }

// A BodyKind states who owns the bytes of a body.
type BodyKind uint8

// The kinds of body.
const (
	BodyNone    BodyKind = iota // no bytes: Content-Length is 0
	BodyPage                    // an immutable page, shared by many exchanges
	BodyScratch                 // the exchange's own Scratch
	BodyFile                    // part of an open file, closed by the engine
	BodyStream                  // a reader, closed by the engine
)

// A Body is what follows the head of a response. Use the Send methods of
// [Exchange] to make one.
type Body struct {
	Kind   BodyKind
	Page   *Page
	File   *os.File
	Shared bool  // File is its handler's, which other exchanges send too: nobody closes or moves it
	Offset int64 // where in File
	Length int64 // in bytes; -1 for a stream of unknown length
	Stream io.ReadCloser
}

// Close closes the file, unless it is shared, or stream, if there is one. Engines call it once per
// exchange, after the last byte or the loss of the connection; a second call
// does nothing.
func (b *Body) Close() error {
	f, s := b.File, b.Stream
	b.File, b.Stream = nil, nil
	switch {
	case f != nil && b.Shared:
	case f != nil:
		return f.Close()
	case s != nil:
		return s.Close()
	}
	return nil
}

// appendErrorPage appends the plain text body of an error reply: the code and
// its standard phrase on one line.
func appendErrorPage(dst []byte, status int) []byte {
	dst = strconv.AppendInt(dst, int64(status), 10)
	if text := http.StatusText(status); text != "" {
		dst = append(dst, ' ')
		dst = append(dst, text...)
	}
	return append(dst, '\n')
}
