package api

import (
	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// mirror answers with the request's body, of the request's type, after its
// last byte.
type mirror struct{}

// Serve answers one request.
func (mirror) Serve(x *weighstone.Exchange) {
	kind := "application/octet-stream"
	if t := x.In.Fields.Get("Content-Type"); len(t) > 0 {
		kind = string(t)
	}
	x.Out.Type = kind
	if !x.In.HasBody() {
		return
	}
	body, ok := readBody(x)
	switch {
	case !ok:
	case body.File != nil:
		x.SendFile(body.File, 0, body.Length)
	default:
		x.Scratch = body.Mem
		x.SendScratch(kind)
	}
}

// readBody reads a request's body to its end, into x.Scratch if it is short.
// When that fails it answers with an error and returns false.
func readBody(x *weighstone.Exchange) (cgi.Spool, bool) {
	body, err := cgi.SpoolBody(x, maxMemory)
	if err != nil {
		x.Fail(cgi.BodyStatus(err))
		x.Out.Close = true
		return cgi.Spool{}, false
	}
	return body, true
}
