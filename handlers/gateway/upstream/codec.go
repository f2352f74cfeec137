package upstream

import (
	"fmt"
	"io"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/fcgi"
	"github.com/weighstone/weighstone/cgi/scgi"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// A codec is a protocol at work on one request after the other.
type codec interface {
	// begin returns how x is asked, valid until the next begin, and awaits
	// its reply. Without a body that is all of the request.
	begin(x *weighstone.Exchange, s cgi.Script, body bool) []byte
	// again awaits the reply anew, for a request that is sent once more.
	again()
	// next takes n bytes from the beginning of b, among them output or
	// complaints. Without either more bytes are needed, or the reply is done.
	next(b []byte) (out, errs []byte, n int, err error)
	// done says whether the reply is complete, and the connection still of use.
	done() bool
	// closed judges the end of the connection: io.EOF if that ends the reply.
	closed() error
	// appendBody appends a part of the request's body to dst, an empty part
	// being its end. Any goroutine may call it.
	appendBody(dst, part []byte) []byte
	// appendAbort appends what asks the application to give up.
	appendAbort(dst []byte) []byte
}

type fcgiCodec struct {
	opening fcgi.Opening
	reply   fcgi.Reply
}

func (c *fcgiCodec) begin(x *weighstone.Exchange, s cgi.Script, body bool) []byte {
	c.again()
	c.opening.Reset(true)
	cgi.Variables(x, s, &c.opening)
	return c.opening.Bytes(body)
}

func (c *fcgiCodec) again() { c.reply = fcgi.Reply{} }

func (c *fcgiCodec) next(b []byte) (out, errs []byte, n int, err error) {
	kind, content, n, err := c.reply.Next(b)
	switch {
	case err == fcgi.ErrOverloaded:
		return nil, nil, n, fmt.Errorf("%w: %w", gateway.ErrBusy, err)
	case err != nil:
		return nil, nil, n, fmt.Errorf("%w: %w", gateway.ErrBroken, err)
	case kind == fcgi.TypeStderr:
		return nil, content, n, nil
	}
	return content, nil, n, nil
}

func (c *fcgiCodec) done() bool { return c.reply.Done() }

func (c *fcgiCodec) closed() error {
	return fmt.Errorf("%w: connection ended before END_REQUEST", gateway.ErrBroken)
}

func (c *fcgiCodec) appendBody(dst, part []byte) []byte { return fcgi.AppendStdin(dst, part) }
func (c *fcgiCodec) appendAbort(dst []byte) []byte      { return fcgi.AppendAbort(dst) }

type scgiCodec struct{ opening scgi.Opening }

func (c *scgiCodec) begin(x *weighstone.Exchange, s cgi.Script, _ bool) []byte {
	c.opening.Reset()
	cgi.Variables(x, s, &c.opening)
	return c.opening.Bytes()
}

func (c *scgiCodec) again()                                           {}
func (c *scgiCodec) next(b []byte) (out, errs []byte, n int, e error) { return b, nil, len(b), nil }
func (c *scgiCodec) done() bool                                       { return false }
func (c *scgiCodec) closed() error                                    { return io.EOF }
func (c *scgiCodec) appendBody(dst, part []byte) []byte               { return append(dst, part...) }
func (c *scgiCodec) appendAbort(dst []byte) []byte                    { return dst }
