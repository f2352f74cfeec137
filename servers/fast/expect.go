package fast

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/servers/netconn"
)

// headerReceived sees to it that a request with a body of known length is shown
// to the adapter when its head is complete, as one with an expectation is: the
// library would wait for the first byte of the body, and a refusal with it
// (http.go, readBodyWithStreaming). And it removes an expectation that there is
// nothing to wait for, since the library would send a 100 all the same.
func headerReceived(h *fasthttp.RequestHeader) (none fasthttp.RequestConfig) {
	switch n := h.ContentLength(); {
	case n > 0:
		h.SetCanonical(expectName, expectValue)
	case n == -1:
	case h.PeekCanonical(expectName) == nil: // nearly always
	case bytes.EqualFold(h.PeekCanonical(expectName), expectValue):
		h.DelBytes(expectName)
	}
	return none
}

var (
	expectName  = []byte("Expect")
	expectValue = []byte("100-continue")
)

// expect judges a request when its head is complete, and returns 100 to go on,
// or the status of the refusal, with which the response is filled already. (The
// library documents that a refusal's response must not be touched, but sends
// it as it is: server.go, serveConnCounted.)
func (e *Engine) expect(ctx *fasthttp.RequestCtx) int {
	c := ctx.Conn().(*netconn.Conn)
	x := e.begin(ctx, c)
	x.judged = true
	x.found = e.site.Find(&x.Exchange)
	if x.found != nil || !x.Out.Close {
		c.Exchange = x
		if x.found == nil || x.In.Fields.Get("Expect") == nil {
			c.DropInterim()
		}
		return http.StatusContinue
	}
	c.Unread()
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
	if c.Refused() { // by the gate, and counted there
		return
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
	c.Unread()
	x.Fail(status)
	x.Out.Close = true
	ctx.Response.SkipBody = ctx.IsHead()
	e.reply(x)
}

// judge refuses the heads that the parser of the library refuses though they
// are well-formed, since it forgets the method then, and would send a body to
// HEAD (header.go, readLoop, validateRequestURI and validate). An empty Host,
// which RFC 9110 section 7.2 has sent when the target has no authority, is
// among them: the library takes it for an absent one.
func judge(head *http1.Request) (status int) {
	host := len(head.Host) > 0 || head.Minor == 0
	switch target := head.Target; {
	case host && readable(string(head.Method), target):
		return 0
	case target[0] != '/' && string(head.Method) == http.MethodConnect:
		return http.StatusNotImplemented
	}
	return http.StatusBadRequest
}

// readable says whether the library takes target for one of method.
func readable(method string, target []byte) bool {
	if target[0] == '/' {
		return true
	}
	if string(target) == "*" {
		return method == http.MethodOptions
	}
	if scheme, _, ok := bytes.Cut(target, []byte("://")); ok {
		return bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
	}
	return method == http.MethodConnect
}
