package fcgi

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// How an application can refuse a request (section 5.5).
var (
	ErrCantMultiplex = errors.New("FastCGI application has another request on this connection")
	ErrOverloaded    = errors.New("FastCGI application is overloaded")
	ErrUnknownRole   = errors.New("FastCGI application is no responder")
)

// A Reply takes apart what an application sends for one request. The zero
// value awaits the first byte; after the last it is done, and must be zeroed
// for the next request.
//
// Only END_REQUEST completes a reply: the empty STDOUT record before it is
// not sent by php-fpm, and the end of the connection says nothing.
type Reply struct {
	Status uint32 // the application's own, once the reply is Done

	part    Type // of the record being read
	left    int  // bytes of its content to come
	padding int  // bytes to skip after it
	skip    bool // its content is of no interest
	quiet   bool // STDOUT has ended
	done    bool
	end     [8]byte // the content of END_REQUEST
}

// Done says whether the reply is complete.
func (r *Reply) Done() bool { return r.done }

// Next takes bytes from the beginning of b, and returns how many, and the
// output among them: content of type TypeStdout or TypeStderr, a part of b,
// never longer than what b holds. Content is empty when there is none yet;
// then more bytes are needed if n is that of all b, or the reply is Done. It
// must not be called when it is. Bytes beyond a reply that is Done are not
// touched: they mean that the connection can't be trusted.
func (r *Reply) Next(b []byte) (t Type, content []byte, n int, err error) {
	for !r.done {
		switch {
		case r.left > 0:
			k := min(r.left, len(b)-n)
			if k == 0 {
				return 0, nil, n, nil
			}
			part := b[n : n+k : n+k]
			n += k
			r.left -= k
			if r.part == TypeEnd {
				copy(r.end[len(r.end)-r.left-k:], part)
			} else if !r.skip {
				return r.part, part, n, nil
			}
		case r.part == TypeEnd && r.padding == 0:
			if err := r.judge(); err != nil {
				return 0, nil, n, err
			}
		case r.padding > 0:
			k := min(r.padding, len(b)-n)
			if k == 0 {
				return 0, nil, n, nil
			}
			n += k
			r.padding -= k
		default:
			h, k, err := ParseHeader(b[n:])
			if err != nil || k == 0 {
				return 0, nil, n, err
			}
			n += k
			if err := r.begin(h); err != nil {
				return 0, nil, n, err
			}
		}
	}
	return 0, nil, n, nil
}

// begin takes in the header of a record.
func (r *Reply) begin(h Header) error {
	r.part, r.left, r.padding = h.Type, h.Length, h.Padding
	r.skip = h.ID == 0 // management records that nobody asked for: Go's library sends one
	if r.skip {
		r.part = 0
		return nil
	}
	switch {
	case h.ID != requestID:
		return fmt.Errorf("FastCGI reply: %v for request %d, which nobody made", h.Type, h.ID)
	case h.Type == TypeStderr:
	case h.Type == TypeStdout && r.quiet && h.Length > 0:
		return errors.New("FastCGI reply: STDOUT goes on after its end")
	case h.Type == TypeStdout:
		r.quiet = h.Length == 0
	case h.Type == TypeEnd && h.Length == len(r.end):
	case h.Type == TypeEnd:
		return fmt.Errorf("FastCGI reply: END_REQUEST of %d bytes", h.Length)
	default:
		return fmt.Errorf("FastCGI reply: %v is nothing that an application sends", h.Type)
	}
	return nil
}

// judge takes in END_REQUEST.
func (r *Reply) judge() error {
	switch status := r.end[4]; status {
	case statusComplete:
		r.Status = binary.BigEndian.Uint32(r.end[:])
		r.done = true
		return nil
	case statusCantMpx:
		return ErrCantMultiplex
	case statusOverloaded:
		return ErrOverloaded
	case statusUnknownRole:
		return ErrUnknownRole
	default:
		return fmt.Errorf("FastCGI reply: protocol status %d", status)
	}
}
