package fast

import (
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
)

// reply hands x.Out to the library, which writes it when the handler has
// returned. The exchange goes back to the pool, at once or, when the library is
// still to read a file or stream of it, when that is closed.
func (e *Engine) reply(x *Exchange) {
	out := &x.Out
	r := &x.ctx.Response
	r.SetStatusCode(out.Code())
	setHeader(&r.Header, out)
	if out.Close {
		r.Header.SetConnectionClose()
	}
	if out.Bodyless() || x.ctx.IsHead() {
		if out.Body.Length >= 0 {
			r.Header.SetContentLength(int(out.Body.Length))
		}
		e.finish(x, 0)
		return
	}
	switch body := &out.Body; body.Kind {
	case weighstone.BodyPage:
		r.SetBodyRaw(body.Page.Bytes)
	case weighstone.BodyScratch:
		r.SetBody(x.Scratch)
	case weighstone.BodyFile, weighstone.BodyStream:
		e.replyStream(x)
		return
	}
	e.finish(x, out.Body.Length)
}

// finish ends the exchange, of whose body sent bytes were sent.
func (e *Engine) finish(x *Exchange, sent int64) {
	x.conn.Answered(&x.Exchange, x.Out.Code(), sent)
	_ = x.Out.Body.Close()
	e.free(x)
}

// setHeader sets the header lines but those of framing, which the library sets
// itself. The names are in the form in which they are to be sent.
func setHeader(h *fasthttp.ResponseHeader, out *weighstone.Response) {
	if p := out.Body.Page; out.Body.Kind == weighstone.BodyPage {
		for i := range p.Fields {
			switch f := &p.Fields[i]; f.Name {
			case "Content-Length":
			case "Content-Type":
				h.SetContentType(f.Value)
			default:
				h.SetCanonical(view(f.Name), view(f.Value))
			}
		}
	} else if out.Type != "" {
		h.SetContentType(out.Type)
	}
	if len(out.Extra) > 0 {
		h.DisableNormalizing() // it would make Etag of ETag
	}
	for i := range out.Extra {
		h.AddBytesKV(view(out.Extra[i].Name), view(out.Extra[i].Value))
	}
}

// view returns the bytes of s, which the library only copies.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
