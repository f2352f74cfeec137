package fast

import (
	"bytes"
	"io"
	"net"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// A stream is the file or stream of a reply, as the library reads it. Closing
// it ends the exchange.
type stream struct {
	engine *Engine
	x      *Exchange
	part   netconn.FilePart // for sendfile; without a file for a stream
	sent   int64
}

// replyStream hands a file or stream to the library.
func (e *Engine) replyStream(x *Exchange) {
	body := &x.Out.Body
	x.stream = stream{engine: e, x: x}
	s := &x.stream
	if body.Kind == weighstone.BodyFile {
		s.part = netconn.FilePart{File: body.File, Offset: body.Offset, Left: body.Length}
	}
	if body.Length < 0 && x.In.Minor == 0 {
		e.replyUntilClose(x)
		return
	}
	x.ctx.Response.SetBodyStream(s, int(body.Length))
}

// SupportsBodyWriteTo keeps the library from reading by way of WriteTo what is
// not a file.
func (s *stream) SupportsBodyWriteTo() bool { return s.part.File != nil }

// WriteTo lets the library send a file with sendfile: its writer hands the
// part through to the connection.
func (s *stream) WriteTo(w io.Writer) (n int64, err error) {
	if to, ok := w.(io.ReaderFrom); ok {
		n, err = to.ReadFrom(&s.part)
	} else {
		n, err = io.Copy(w, &s.part)
	}
	s.sent += n
	return n, err
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (n int, err error) {
	body := &s.x.Out.Body
	switch {
	case s.part.File != nil:
		n, err = s.part.Read(p)
	case body.Length >= 0 && s.sent == body.Length:
		return 0, io.EOF // the stream's own end may be late
	case body.Length >= 0:
		n, err = body.Stream.Read(p[:min(int64(len(p)), body.Length-s.sent)])
	default:
		n, err = body.Stream.Read(p)
	}
	s.sent += int64(n)
	return n, err
}

// Close closes the file or stream and ends the exchange.
func (s *stream) Close() error {
	s.engine.finish(s.x, s.sent)
	return nil
}

// replyUntilClose sends a stream of unknown length to a client of HTTP/1.0,
// which knows no chunks. The library would send them all the same (http.go,
// Response.writeBodyStream), so the connection is taken from it.
func (e *Engine) replyUntilClose(x *Exchange) {
	c, s := x.conn, &x.stream
	h := &x.ctx.Response.Header
	h.SetConnectionClose()
	head := bytes.Clone(h.Header())
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(net.Conn) {
		_, err := c.Write(head)
		if err == nil {
			_, err = c.ReadFrom(s)
		}
		if err != nil {
			c.Abort()
		}
		c.Unread()
		_ = s.Close()
	})
}
