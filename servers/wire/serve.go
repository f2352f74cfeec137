package wire

import (
	"io"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
)

// An End says how a connection stands after [Machine.Serve].
type End uint8

// The ends.
const (
	Keep   End = iota // ready for the next request
	Closed            // to be closed; nothing more is expected from the client
	Linger            // to be half-closed and read to its end: the client may still be sending
	Abort             // to be reset: the reply is broken, and only that shows it
)

// A Server serves one exchange at a time over connections that wait. It belongs
// to one goroutine at a time and may be pooled.
type Server struct {
	m     *Machine
	body  *bodyReader // of the current exchange; a gateway may hold it until the stream is closed
	buf   []byte      // what the body, and perhaps the next request behind it, is read into
	piece []byte      // what streams and files are read into
	out   []byte
}

// BufferSize is what Serve reads bodies, streams and files by, in bytes, and so
// the most that it leaves of a next request.
const BufferSize = 32 << 10

// NewServer makes a server whose machine counts into slot.
func NewServer(config Config, slot *weighstone.Slot) *Server {
	return &Server{m: NewMachine(config, slot), buf: make([]byte, BufferSize), piece: make([]byte, BufferSize)}
}

// Serve carries out one exchange: in begins with a complete head, as
// [Machine.Next] found it, and rest is what of in, or of what was read since,
// belongs to the next request (a view that is valid until the next call).
// closing makes the reply the connection's last. gone is handed on as
// Request.Gone.
func (s *Server) Serve(conn Conn, in []byte, peer *Peer, gone <-chan struct{}, closing func() bool) (rest []byte, end End) {
	return s.Conclude(nil, conn, in, peer, gone, closing)
}

// Conclude is Serve for an exchange that was parked as parked, which serves it
// instead of the route's handler; nil for none.
func (s *Server) Conclude(parked weighstone.Handler, conn Conn, in []byte, peer *Peer, gone <-chan struct{}, closing func() bool) (rest []byte, end End) {
	m := s.m
	now := time.Now()
	m.Tick(now)
	n, ok := m.parse(in, 0, peer)
	x := &m.X
	if ok {
		x.In.Gone = gone
		s.open(conn, in[n:], now)
		if m.route = m.config.Site.Find(x); m.route != nil {
			s.handle(parked)
		}
		if !s.mayFollow() {
			x.Out.Close = true
		}
	} else {
		s.open(conn, nil, now)
	}
	byClosing := x.Out.Body.Kind == weighstone.BodyStream && x.Out.Body.Length < 0 && m.head.Minor == 0
	keep := m.head.KeepAlive && !x.Out.Close && !byClosing && !closing() && !m.last()
	asked := ok && !m.head.KeepAlive && s.body.ended.Load() && len(s.body.in) == 0
	err := s.write(conn, keep)
	switch {
	case err == errCutOff && byClosing:
		return nil, Abort
	case err != nil:
		return nil, Closed
	case !keep && asked:
		return nil, Closed
	case !keep, !s.drop():
		return nil, Linger
	}
	return s.body.in, Keep
}

// open makes the body reader ready for the request just parsed.
func (s *Server) open(conn Conn, in []byte, now time.Time) {
	m := s.m
	length := m.head.Length
	s.body = &bodyReader{
		conn: conn, in: in, buf: s.buf,
		left: max(length, 0), expect: m.head.Expect,
		chunked: length < 0, chunks: http1.Chunks{Max: m.config.Site.MaxBody()},
	}
	s.body.ended.Store(length == 0)
	if length != 0 {
		m.X.In.Body = s.body
		_ = conn.SetReadDeadline(now.Add(m.config.Limits.Body)) // a failure shows at the next read
	}
}

// handle calls the handler, with the body read before where the route says so;
// what was parked has none.
func (s *Server) handle(parked weighstone.Handler) {
	x := &s.m.X
	if x.In.HasBody() && s.m.route.Body != weighstone.BodyStreamed {
		b, status := s.readShort()
		if status != 0 {
			x.Fail(status)
			x.Out.Close = true
			return
		}
		x.In.Length, x.In.Body = int64(len(b)), &shortBody{b: b}
		if s.m.route.Body == weighstone.BodyRefused || len(b) == 0 {
			x.In.Length, x.In.Body = 0, nil
		}
	}
	if parked == nil {
		parked = s.m.route.Handler
	}
	s.m.handle(parked)
}

// readShort reads a body that must fit [weighstone.MaxBuffered].
func (s *Server) readShort() (b []byte, status int) {
	b, err := io.ReadAll(io.LimitReader(s.body, weighstone.MaxBuffered+1))
	switch {
	case err != nil:
		return nil, StatusOf(err)
	case len(b) > weighstone.MaxBuffered:
		return nil, http.StatusRequestEntityTooLarge
	}
	return b, 0
}

// mayFollow says whether the next request can follow this one's body: it was
// read to its end, or can be dropped after the reply. While a stream is open,
// the gateway behind it may still be reading; then only the end counts.
func (s *Server) mayFollow() bool {
	owed := s.body.beginReply()
	switch {
	case s.body.ended.Load():
		return true
	case owed, s.m.X.Out.Body.Kind == weighstone.BodyStream:
		return false
	}
	return s.body.err == nil && !s.body.chunked && s.body.left <= weighstone.MaxBuffered
}

// drop reads the rest of the body, and says whether its end came.
func (s *Server) drop() bool {
	if s.body.ended.Load() {
		return true
	}
	_, err := io.Copy(io.Discard, s.body)
	return err == nil
}

// StatusOf returns the status that the error of a body's Read asks for.
func StatusOf(err error) int {
	if e, ok := err.(interface{ Status() int }); ok {
		return e.Status()
	}
	return http.StatusBadRequest
}

// A shortBody is a body that was read in advance.
type shortBody struct{ b []byte }

func (s *shortBody) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b)
	s.b = s.b[n:]
	return n, nil
}

// write sends the reply. It returns errCutOff when the body ended before its
// time, and the connection's error when that fails.
func (s *Server) write(conn Conn, keep bool) error {
	m := s.m
	x := &m.X
	body := &x.Out.Body
	if body.Kind != weighstone.BodyStream || x.In.Verb == weighstone.HEAD || x.Out.Bodyless() {
		out, rest, _ := m.Reply(s.out[:0], !keep)
		s.out = out
		return s.writeRest(conn, out, &rest)
	}
	chunked := body.Length < 0 && m.head.Minor > 0
	s.out = m.appendHead(s.out[:0], keep, chunked)
	sent, err := s.copyStream(conn, chunked)
	body.Close()
	m.finished(sent)
	return err
}

// writeRest sends rendered bytes and then the page or file behind them.
func (s *Server) writeRest(conn Conn, out []byte, rest *Rest) error {
	defer rest.Close()
	if err := s.send(conn, out); err != nil {
		return err
	}
	if err := s.send(conn, rest.Page); err != nil {
		return err
	}
	if rest.File == nil {
		return nil
	}
	part := io.NewSectionReader(rest.File, rest.Offset, rest.Length)
	for left := rest.Length; left > 0; {
		n, err := part.Read(s.piece)
		if n == 0 && err != nil {
			return errCutOff
		}
		if err := s.send(conn, s.piece[:n]); err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

func (s *Server) send(conn Conn, b []byte) error {
	n, err := conn.Write(b)
	s.m.slot.Sent(n)
	return err
}

// copyStream sends the head in s.out and then the stream, by chunks or as it
// is. The head leaves with the first bytes of the body.
func (s *Server) copyStream(conn Conn, chunked bool) (sent int64, err error) {
	body := &s.m.X.Out.Body
	for end := false; !end; {
		n, err := body.Stream.Read(s.piece)
		if body.Length >= 0 && sent+int64(n) > body.Length {
			n = int(body.Length - sent)
		}
		sent += int64(n)
		switch {
		case n > 0 && chunked:
			s.out = http1.AppendChunk(s.out, s.piece[:n])
		case n > 0:
			s.out = append(s.out, s.piece[:n]...)
		}
		end = err == io.EOF || body.Length >= 0 && sent == body.Length
		if err != nil && err != io.EOF || end && body.Length >= 0 && sent < body.Length {
			if sendErr := s.send(conn, s.out); sendErr != nil {
				return sent, sendErr
			}
			return sent, errCutOff
		}
		if end && chunked {
			s.out = append(s.out, http1.LastChunk...)
		}
		if err := s.send(conn, s.out); err != nil {
			return sent, err
		}
		s.out = s.out[:0]
	}
	return sent, nil
}
