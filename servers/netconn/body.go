package netconn

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
)

// A BodyError says why a request's body cannot be had.
type BodyError struct {
	status int
	err    error
}

// Error is a sentence without the status.
func (e *BodyError) Error() string { return "read request body: " + e.err.Error() }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.err }

// Status is the status to answer with: 400, 408 or 413.
func (e *BodyError) Status() int { return e.status }

var errTooLarge = errors.New("larger than the limit")

// A Body is the body of one request: what the library decodes, with the limits
// that it does not keep. It lives as long as the exchange and is used again.
type Body struct {
	conn *Conn
	from io.Reader
	left int64 // bytes to come, or allowed to come when the length is unknown
	// known says that left was announced.
	known bool
	err   error
	// ended says that err is io.EOF. A gateway reads in a goroutine of its own,
	// which may go on while the reply is a stream.
	ended atomic.Bool

	buf   []byte // a body read in advance
	taken int
}

// Open makes b the body of in, which has one, read from what the library
// offers, of at most limit bytes.
func (b *Body) Open(conn *Conn, in *weighstone.Request, from io.Reader, limit int64) {
	b.conn, b.from, b.err = conn, from, nil
	b.ended.Store(false)
	b.left, b.known = in.Length, in.Length >= 0
	if !b.known {
		b.left = limit
	}
	b.buf, b.taken = b.buf[:0], 0
	in.Body = b
}

// Read yields the body. An error other than io.EOF is a BodyError.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.from.Read(p)
	switch {
	case int64(n) > b.left:
		n, err = 0, &BodyError{http.StatusRequestEntityTooLarge, errTooLarge}
	case err == io.EOF && b.known && int64(n) < b.left:
		err = &BodyError{http.StatusBadRequest, io.ErrUnexpectedEOF}
	case err != nil && err != io.EOF:
		err = judge(err)
	}
	b.left -= int64(n)
	if err == nil && b.known && b.left == 0 {
		err = io.EOF
	}
	if b.err = err; err == io.EOF {
		b.ended.Store(true)
	}
	if n > 0 {
		return n, nil
	}
	return n, err
}

// judge makes a BodyError of an error of the library.
func judge(err error) error {
	var judged *BodyError
	switch {
	case errors.As(err, &judged): // by the gate
		return judged
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &BodyError{http.StatusRequestTimeout, err}
	}
	return &BodyError{http.StatusBadRequest, err}
}

// Ended says whether the body was read to its end.
func (b *Body) Ended() bool { return b.ended.Load() }

// Interrupt implements weighstone.Interrupter. The connection can't be kept.
func (b *Body) Interrupt() {
	b.conn.Shut()
	_ = b.conn.SetReadDeadline(time.Unix(1, 0))
}

// Buffer reads the body of a route whose handler must not wait for it, and
// makes it what the handler reads. It returns a status to refuse the request
// with, or 0.
func (b *Body) Buffer(in *weighstone.Request, policy weighstone.BodyPolicy) (status int) {
	if cap(b.buf) == 0 {
		b.buf = make([]byte, 0, 4<<10)
	}
	for b.err == nil && len(b.buf) <= weighstone.MaxBuffered {
		if len(b.buf) == cap(b.buf) {
			b.buf = append(b.buf, 0)[:len(b.buf)]
		}
		n, _ := b.Read(b.buf[len(b.buf):cap(b.buf)])
		b.buf = b.buf[:len(b.buf)+n]
	}
	if len(b.buf) > weighstone.MaxBuffered {
		return http.StatusRequestEntityTooLarge
	}
	if failed, ok := b.err.(*BodyError); ok {
		return failed.status
	}
	in.Length, in.Body = int64(len(b.buf)), (*buffered)(b)
	if policy == weighstone.BodyRefused || len(b.buf) == 0 {
		in.Length, in.Body = 0, nil
	}
	return 0
}

// Close drops what b refers to, and a buffer that is too large to be kept.
func (b *Body) Close() {
	b.conn, b.from, b.err = nil, nil, nil
	if cap(b.buf) > weighstone.MaxBuffered {
		b.buf = nil
	}
}

// buffered is a Body that was read in advance.
type buffered Body

func (b *buffered) Read(p []byte) (int, error) {
	if b.taken == len(b.buf) {
		return 0, io.EOF
	}
	n := copy(p, b.buf[b.taken:])
	b.taken += n
	return n, nil
}
