package fast

import (
	"net/http"
	"runtime/debug"

	"github.com/weighstone/weighstone"
)

// Find judges the request and returns its route; nil when the answer is settled.
func (e *Engine) Find(x *Exchange) *weighstone.Route {
	if !x.judged {
		x.found = e.site.Find(&x.Exchange)
	}
	return x.found
}

// Answer carries out the exchange and hands the reply to the library. The
// exchange must not be used afterwards.
func (e *Engine) Answer(x *Exchange, route *weighstone.Route) {
	if route != nil {
		e.handle(route, x)
	}
	if x.In.Body != nil && !x.body.Ended() && !x.In.Droppable() {
		x.conn.Unread()
		x.Out.Close = true
	}
	if x.conn.Last() {
		x.Out.Close = true
	}
	e.reply(x)
}

// handle calls the handler of route. The library would let a panic end the
// process; it is answered 500 instead.
func (e *Engine) handle(route *weighstone.Route, x *Exchange) {
	defer func() {
		if v := recover(); v != nil {
			e.hub.Log.Error("handler panicked", "path", string(x.In.Path), "panic", v, "stack", string(debug.Stack()))
			x.Fail(http.StatusInternalServerError)
			x.Out.Close = true
		}
	}()
	if x.In.HasBody() && route.Body != weighstone.BodyStreamed {
		if status := x.body.Buffer(&x.In, route.Body); status != 0 {
			x.Fail(status)
			x.Out.Close = true
			return
		}
	}
	if route.MayWait(&x.In) {
		x.watch = x.conn.Watch()
		x.In.Gone = x.watch.Gone
		x.conn.Waits()
	}
	route.Handler.Serve(&x.Exchange)
}
