package fcgi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/weighstone/weighstone/cgi"
)

// A Request is one request as an application sees it, valid until the Handler
// returns.
type Request struct {
	Params map[string]string
	Body   io.Reader // to its end as the gateway sends it, which may be before or after CONTENT_LENGTH
	Out    io.Writer // STDOUT: a header as of CGI, a blank line and a body
	Err    io.Writer // STDERR
}

// ErrAborted is what reading the body fails with once the gateway has sent
// ABORT_REQUEST.
var ErrAborted = errors.New("FastCGI request aborted by the gateway")

// A Handler answers a request and returns the application's own status, 0 for
// success.
type Handler func(*Request) (status uint32)

// Serve answers what comes on the connections of l, each in a goroutine,
// until accepting fails, as it does when l is closed. It returns that error
// when all connections have ended.
func Serve(l net.Listener, h Handler) error {
	return cgi.ServeConns(l, func(c net.Conn) { ServeConn(c, h) })
}

// ServeConn answers the requests on one connection, one at a time, until the
// gateway closes it or wants it closed: then it returns nil. It does not close
// the connection.
func ServeConn(c io.ReadWriter, h Handler) error {
	s := &serving{in: bufio.NewReaderSize(c, 16<<10), out: c}
	for {
		err := s.awaitBegin()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = s.readParams()
		}
		if err != nil {
			return fmt.Errorf("serve FastCGI: %w", err)
		}
		if err := s.answer(h); err != nil {
			return fmt.Errorf("serve FastCGI: %w", err)
		}
		if !s.keep {
			return nil
		}
	}
}

// serving is a connection as the application has it.
type serving struct {
	in  *bufio.Reader
	out io.Writer

	id      uint16 // of the request at work, 0 for none
	keep    bool   // the connection outlives it
	params  []byte
	left    int // of the STDIN record being read
	padding int
	ended   bool // STDIN has, or the request was aborted
	aborted bool
}

// record reads the next record's header, and settles what does not concern
// the request at work.
func (s *serving) record() (Header, error) {
	for {
		b, err := s.in.Peek(HeaderLength)
		if err != nil {
			if err == io.EOF && len(b) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return Header{}, err
		}
		h, n, err := ParseHeader(b)
		if err != nil {
			return h, err
		}
		s.in.Discard(n)
		switch {
		case h.ID == 0:
			err = s.manage(h)
		case h.Type == TypeBegin && s.id != 0:
			err = s.refuse(h, statusCantMpx)
		case h.Type == TypeBegin || s.id != 0 && h.ID == s.id:
			return h, nil
		default: // a request that has ended: what the gateway had still to send
			err = s.skip(h.Length + h.Padding)
		}
		if err != nil {
			return h, err
		}
	}
}

func (s *serving) skip(n int) error {
	_, err := s.in.Discard(n)
	return unexpected(err)
}

// unexpected turns the end of the connection into an error.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// content reads a record's content, and skips its padding.
func (s *serving) content(dst []byte, h Header) ([]byte, error) {
	start := len(dst)
	dst = append(dst, make([]byte, h.Length)...)
	if _, err := io.ReadFull(s.in, dst[start:]); err != nil {
		return dst, unexpected(err)
	}
	return dst, s.skip(h.Padding)
}

// refuse ends a request that can't be served.
func (s *serving) refuse(h Header, status byte) error {
	if err := s.skip(h.Length + h.Padding); err != nil {
		return err
	}
	_, err := s.out.Write(appendEnd(nil, h.ID, 0, status))
	return err
}

// manage answers a management record (section 4).
func (s *serving) manage(h Header) error {
	asked, err := s.content(nil, h)
	if err != nil {
		return err
	}
	reply := AppendRecord(nil, TypeUnknown, 0, []byte{byte(h.Type), 0, 0, 0, 0, 0, 0, 0})
	if h.Type == TypeGetValues {
		reply = AppendRecord(nil, TypeGetValuesResult, 0, values(asked))
	}
	_, err = s.out.Write(reply)
	return err
}

// values returns what is known of the variables asked for: that requests are
// not multiplexed. How many connections there can be is not known here.
func values(asked []byte) (known []byte) {
	for len(asked) > 0 {
		name, _, n, err := ParsePair(asked)
		if err != nil || n == 0 {
			break
		}
		if string(name) == "FCGI_MPXS_CONNS" {
			known = AppendPair(known, name, []byte("0"))
		}
		asked = asked[n:]
	}
	return known
}

// awaitBegin reads up to the beginning of a request.
func (s *serving) awaitBegin() error {
	s.id = 0
	for {
		h, err := s.record()
		if err != nil {
			return err
		}
		if h.Length != 8 {
			return fmt.Errorf("BEGIN_REQUEST of %d bytes", h.Length)
		}
		body, err := s.content(make([]byte, 0, 8), h)
		if err != nil {
			return err
		}
		s.keep = body[2]&flagKeep != 0
		if role := int(body[0])<<8 | int(body[1]); role == roleResponder {
			s.id = h.ID
			s.params, s.left, s.padding, s.ended, s.aborted = s.params[:0], 0, 0, false, false
			return nil
		}
		if _, err := s.out.Write(appendEnd(nil, h.ID, 0, statusUnknownRole)); err != nil || !s.keep {
			return errors.Join(err, io.EOF)
		}
	}
}

// readParams reads the parameters to their end.
func (s *serving) readParams() error {
	for {
		h, err := s.record()
		switch {
		case err != nil:
			return unexpected(err)
		case h.Type == TypeAbort:
			s.ended, s.aborted = true, true
			return s.skip(h.Length + h.Padding)
		case h.Type != TypeParams:
			return fmt.Errorf("%v before the end of PARAMS", h.Type)
		case h.Length == 0:
			return s.skip(h.Padding)
		case len(s.params)+h.Length > MaxPairs:
			return fmt.Errorf("PARAMS of more than %d bytes", MaxPairs)
		}
		if s.params, err = s.content(s.params, h); err != nil {
			return err
		}
	}
}

// answer has the handler reply, and ends the request.
func (s *serving) answer(h Handler) error {
	out := &output{w: s.out, t: TypeStdout, id: s.id}
	var status uint32
	if !s.aborted {
		params, err := readPairs(s.params)
		if err != nil {
			return err
		}
		errs := &output{w: s.out, t: TypeStderr, id: s.id}
		status = h(&Request{Params: params, Body: (*input)(s), Out: out, Err: errs})
	}
	if err := s.skip(s.left + s.padding); err != nil {
		return err
	}
	return out.end(status)
}

// readPairs returns the pairs that b consists of.
func readPairs(b []byte) (map[string]string, error) {
	pairs := map[string]string{}
	for len(b) > 0 {
		name, value, n, err := ParsePair(b)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		pairs[string(name)] = string(value)
		b = b[n:]
	}
	return pairs, nil
}
