package std

import (
	"net/http"
	"runtime/debug"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// ServeHTTP carries out one exchange.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*netconn.Conn)
	x := s.pool.Get().(*exchange)
	x.fill(r, c, s.site.MaxBody())
	defer func() {
		x.Out.Body.Close()
		x.free()
		s.pool.Put(x)
	}()
	s.answer(x, c, r)
	s.write(w, r, x, c)
}

// answer fills x.Out.
func (s *server) answer(x *exchange, c *netconn.Conn, r *http.Request) {
	if route := s.site.Find(&x.Exchange); route != nil {
		s.handle(route, x, c, r)
	}
	if x.In.Body != nil && !x.body.Ended() && !x.In.Droppable() {
		x.Out.Close = true
	}
	if c.Last() {
		x.Out.Close = true
	}
}

// handle calls the handler of route. A handler that panics is answered 500, as
// its library would.
func (s *server) handle(route *weighstone.Route, x *exchange, c *netconn.Conn, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			s.hub.Log.Error("handler panicked", "path", string(x.In.Path), "panic", v, "stack", string(debug.Stack()))
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
		x.In.Gone = r.Context().Done()
		c.Waits()
	}
	route.Handler.Serve(&x.Exchange)
}
