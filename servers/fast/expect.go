package fast

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// headerReceived removes an expectation that there is nothing to wait for: the
// library would send a 100 to a request without body.
func headerReceived(h *fasthttp.RequestHeader) (none fasthttp.RequestConfig) {
	if n := h.ContentLength(); n != -1 && n <= 0 {
		if v := h.PeekCanonical(expectName); v != nil && bytes.EqualFold(v, continueValue) {
			h.DelBytes(expectName)
		}
	}
	return none
}

var (
	expectName    = []byte("Expect")
	continueValue = []byte("100-continue")
)

// expect judges a request whose body waits for a 100, and returns 100 or the
// status of the refusal, with which the response is filled already. (The
// library documents that a refusal's response must not be touched, but sends
// it as it is: server.go, serveConnCounted.)
func (e *Engine) expect(ctx *fasthttp.RequestCtx) int {
	c := ctx.Conn().(*netconn.Conn)
	x := e.begin(ctx, c)
	c.Begin()
	if x.found = e.Find(x); x.found != nil {
		c.Exchange = x
		return http.StatusContinue
	}
	c.Unread()
	x.Out.Close = true
	status := x.Out.Code()
	e.reply(x)
	return status
}

// refuse answers a head that the library could not parse, and a body that it
// could not begin to read.
func (e *Engine) refuse(ctx *fasthttp.RequestCtx, err error) {
	c := ctx.Conn().(*netconn.Conn)
	if x, ok := c.Exchange.(*Exchange); ok && x != nil {
		c.Exchange = nil
		e.free(x)
	}
	status := http.StatusBadRequest
	var small *fasthttp.ErrSmallBuffer
	var late interface{ Timeout() bool }
	switch {
	case errors.As(err, &small):
		status = http.StatusRequestHeaderFieldsTooLarge
	case errors.As(err, &late) && late.Timeout():
		status = http.StatusRequestTimeout
	}
	x := e.begin(ctx, c)
	x.In = weighstone.Request{Minor: 1, Local: c.Local, Remote: c.Remote}
	c.Begin()
	c.Unread()
	x.Fail(status)
	x.Out.Close = true
	e.reply(x)
}
