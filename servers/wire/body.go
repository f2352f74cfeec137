package wire

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone/internal/http1"
)

// A Conn is a connection that waits. Reads wait up to the deadline set, and
// then fail with an error that is os.ErrDeadlineExceeded; Write writes
// everything, unless the client takes nothing for the write limit. One
// goroutine may read while another writes.
type Conn interface {
	io.ReadWriter
	SetReadDeadline(time.Time) error
	// Interrupt makes the read that is waiting, and every later one, fail.
	// Any goroutine may call it.
	Interrupt()
}

// A BodyError says why a request's body cannot be had. Status is what to
// answer.
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

var errStuck = errors.New("chunk framing does not end")

// A bodyReader is the body of one request: what was read behind the head
// first, then what the connection brings. It lives as long as the exchange. A
// gateway may read it in a goroutine of its own while the reply is written.
type bodyReader struct {
	conn    Conn
	in      []byte // read and not yet taken
	buf     []byte // what in is read into
	left    int64  // of an announced body
	chunked bool
	chunks  http1.Chunks
	err     error

	ended  atomic.Bool // read to its end: whoever saw it may use the connection again
	mu     sync.Mutex
	expect bool // a 100 is still owed, and no reply has begun
}

// Interrupt makes the read that is waiting, and every later one, fail; see
// [weighstone.Interrupter].
func (b *bodyReader) Interrupt() { b.conn.Interrupt() }

// Read yields the body without its transfer coding. The first read that must
// wait sends the 100 that an expecting client waits for (RFC 9110 section
// 10.1.1).
func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.chunked {
		return b.readChunked(p)
	}
	if b.left == 0 {
		return 0, b.fail(io.EOF)
	}
	p = p[:min(int64(len(p)), b.left)]
	n := copy(p, b.in)
	b.in = b.in[n:]
	if n == 0 {
		var err error
		if n, err = b.wait(p); err != nil {
			return 0, b.fail(err)
		}
	}
	if b.left -= int64(n); b.left == 0 {
		b.ended.Store(true)
	}
	return n, nil
}

func (b *bodyReader) readChunked(p []byte) (int, error) {
	for {
		// A chunk's data is taken piece by piece, so that the decoder never
		// hands out more than p holds: framing is at least as long as data.
		piece := b.in[:min(len(b.in), len(p))]
		data, n, done, err := b.chunks.Next(piece)
		b.in = b.in[n:]
		switch {
		case err == http1.ErrTooLarge:
			return 0, b.fail(&BodyError{http.StatusRequestEntityTooLarge, err})
		case err != nil:
			return 0, b.fail(&BodyError{http.StatusBadRequest, err})
		case len(data) > 0:
			if done {
				b.fail(io.EOF)
			}
			return copy(p, data), nil
		case done:
			return 0, b.fail(io.EOF)
		case n > 0:
			continue
		case len(piece) < len(b.in): // the decoder wants to see more at once
			return 0, b.fail(&BodyError{http.StatusBadRequest, errStuck})
		}
		// What the decoder left is the start of something: keep it in front.
		have := copy(b.buf, b.in)
		got, err := b.wait(b.buf[have:])
		if err != nil {
			return 0, b.fail(err)
		}
		b.in = b.buf[:have+got]
	}
}

// wait reads from the connection, after sending the 100 that is owed.
func (b *bodyReader) wait(p []byte) (int, error) {
	if err := b.sendContinue(); err != nil {
		return 0, &BodyError{http.StatusBadRequest, err}
	}
	n, err := b.conn.Read(p)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, &BodyError{http.StatusRequestTimeout, err}
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return 0, &BodyError{http.StatusBadRequest, err}
}

// sendContinue sends the 100 that is owed, unless the reply has begun.
func (b *bodyReader) sendContinue() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.expect {
		return nil
	}
	b.expect = false
	_, err := b.conn.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}

// beginReply says that from now on no 100 may be sent, and whether one was
// still owed: then the client may never send the body.
func (b *bodyReader) beginReply() (owed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	owed = b.expect
	b.expect = false
	return owed
}

func (b *bodyReader) fail(err error) error {
	b.err = err
	if err == io.EOF {
		b.ended.Store(true)
	}
	return err
}
