// Package fiber is the engine fiber: github.com/gofiber/fiber/v2, a router and
// a context upon fasthttp. The site's routes are registered in fiber's router,
// and the handler reads fiber's context.
package fiber

import (
	"strings"
	"unsafe"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/fast"
)

// server is a fiber.App on an engine.
type server struct {
	*fast.Engine
	app *fiber.App
}

// New makes a server; it starts nothing.
func New(o weighstone.Options) weighstone.Server {
	app := fiber.New(fiber.Config{
		DisableStartupMessage:        true,
		CaseSensitive:                true,
		StrictRouting:                true,
		DisableDefaultContentType:    true,
		DisablePreParseMultipartForm: true,
		StreamRequestBody:            true,
	})
	return &server{Engine: fast.NewEngine("fiber", o, app.Server()), app: app}
}

// Serve implements weighstone.Server.
func (s *server) Serve(listeners []int, site *weighstone.Site) error {
	for _, r := range site.Routes() {
		pattern := escape.Replace(r.Pattern)
		if strings.HasSuffix(pattern, "/") {
			pattern += "*"
		}
		s.app.All(pattern, s.handle)
	}
	// What fiber's router finds no route for, since it does not decode paths,
	// may still have one; and if not, the site's answer is to be sent.
	s.app.Use(s.handle)
	route := s.app.Handler()
	s.app.Server().Handler = func(ctx *fasthttp.RequestCtx) {
		if weighstone.MethodOf(ctx.Method()) == 0 {
			s.Reply(ctx) // fiber would answer 400, of its own making
			return
		}
		route(ctx)
	}
	return s.Engine.Serve(listeners, site)
}

// escape keeps fiber from taking characters of a pattern for parameters.
var escape = strings.NewReplacer(":", `\:`, "*", `\*`, "+", `\+`, "?", `\?`)

// handle carries out one exchange on what fiber's context says.
func (s *server) handle(c *fiber.Ctx) error {
	x := s.Begin(c.Context())
	x.In.Method = view(c.Method())
	x.In.Target = view(c.OriginalURL())
	x.In.Host = view(c.Get(fiber.HeaderHost))
	s.Answer(x, s.Find(x))
	return nil
}

// view returns the bytes of s, which must not be written to.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
