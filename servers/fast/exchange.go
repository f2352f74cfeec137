package fast

import (
	"bytes"
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// An Exchange is an Exchange of the vocabulary with what the adapter needs
// beside it. It belongs to one request at a time and is pooled.
type Exchange struct {
	weighstone.Exchange

	conn   *netconn.Conn
	ctx    *fasthttp.RequestCtx
	fields fields
	body   netconn.Body
	stream stream
	watch  *netconn.Watch
	judged bool              // found is known: the body was announced
	found  *weighstone.Route // nil when the answer is settled
}

// Begin returns the exchange of the request that ctx holds: the one that its
// expectation was judged with, or a new one with all of In but what the caller
// reads from elsewhere.
func (e *Engine) Begin(ctx *fasthttp.RequestCtx) *Exchange {
	c := ctx.Conn().(*netconn.Conn)
	if x, ok := c.Exchange.(*Exchange); ok && x != nil {
		c.Exchange = nil
		x.openBody(e)
		return x
	}
	x := e.begin(ctx, c)
	x.openBody(e)
	return x
}

func (e *Engine) begin(ctx *fasthttp.RequestCtx, c *netconn.Conn) *Exchange {
	x := e.pool.Get().(*Exchange)
	x.Reset()
	x.conn, x.ctx = c, ctx
	h := &ctx.Request.Header
	x.fields.header = h
	in := &x.In
	in.Method, in.Target, in.Host = h.Method(), h.RequestURI(), h.Host()
	if h.IsHTTP11() {
		in.Minor = 1
	}
	in.Fields = &x.fields
	in.Length = max(int64(h.ContentLength()), -1)
	if h.ContentLength() < -1 {
		in.Length = 0
	}
	in.Local, in.Remote = c.Local, c.Remote
	return x
}

// openBody makes the body readable, if there is one.
func (x *Exchange) openBody(e *Engine) {
	if x.In.HasBody() {
		x.body.Open(x.conn, &x.In, x.ctx.RequestBodyStream(), e.site.MaxBody())
	}
}

// free gives the exchange back.
func (e *Engine) free(x *Exchange) {
	x.watch.Stop()
	x.Reset()
	x.body.Close()
	x.conn, x.ctx, x.watch, x.found, x.fields.header = nil, nil, nil, nil, nil
	x.judged = false
	x.stream = stream{}
	e.pool.Put(x)
}

// fields are the header lines as fasthttp keeps them.
type fields struct{ header *fasthttp.RequestHeader }

// Get implements weighstone.Fields.
func (f *fields) Get(name string) []byte {
	switch name {
	case "Host", "Content-Type", "User-Agent", "Content-Length", "Connection", "Transfer-Encoding", "Trailer", "Cookie":
		// The library keeps these apart, in buffers that it uses again: an
		// absent line is nil or empty, as the requests before had it.
		return f.asSent(name)
	case "Expect":
		if f.header.PeekCanonical(expectName) != nil {
			return f.asSent(name) // headerReceived may have set it
		}
		return nil
	}
	return f.header.PeekCanonical(unsafe.Slice(unsafe.StringData(name), len(name)))
}

// asSent returns the value of the first line with this name as the client sent
// it, nil when there is none.
func (f *fields) asSent(name string) []byte {
	for line := range bytes.Lines(f.header.RawHeaders()) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if len(key) == len(name) && bytes.EqualFold(key, view(name)) {
			return bytes.TrimSpace(value)
		}
	}
	return nil
}

// Each implements weighstone.Fields.
func (f *fields) Each(sink weighstone.FieldSink) {
	for name, value := range f.header.AllInOrder() {
		sink.Field(name, value)
	}
}
