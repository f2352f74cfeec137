package gateway

import (
	"bytes"
	"net/http"

	"github.com/weighstone/weighstone"
)

// MaxRedirects bounds a chain of local redirects.
const MaxRedirects = 10

// redirect answers x as if the local URL target had been requested (RFC 3875
// section 6.2.2): with GET, or HEAD if that was asked, without body, and with
// the same header fields but those about the body.
func (h *Host) redirect(x *weighstone.Exchange, target string) {
	depth := 1
	fields := x.In.Fields
	if f, ok := fields.(*bodilessFields); ok {
		depth, fields = f.depth+1, f.Fields
	}
	if h.Site == nil || depth > MaxRedirects {
		h.Log.Error(h.Kind+" local redirect not followed", "target", target, "redirects", depth-1)
		x.Fail(http.StatusInternalServerError)
		return
	}
	asked := x.In
	asked.Path = bytes.Clone(asked.Path) // looking up another target reuses its place
	x.In.Target = []byte(target)
	x.In.Fields = &bodilessFields{fields, depth}
	x.In.Body, x.In.Length = nil, 0
	if x.In.Verb != weighstone.HEAD {
		x.In.Method = []byte("GET")
	}
	if route := h.Site().Find(x); route != nil {
		route.Handler.Serve(x)
	}
	x.In = asked
}

// bodilessFields are the header lines of a request without those that tell of
// its body; depth counts the redirects so far.
type bodilessFields struct {
	weighstone.Fields
	depth int
}

// Get hides the fields of the body.
func (f *bodilessFields) Get(name string) []byte {
	if ofBody([]byte(name)) {
		return nil
	}
	return f.Fields.Get(name)
}

// Each hides the fields of the body.
func (f *bodilessFields) Each(sink weighstone.FieldSink) {
	f.Fields.Each(bodilessSink{sink})
}

type bodilessSink struct{ sink weighstone.FieldSink }

func (s bodilessSink) Field(name, value []byte) {
	if !ofBody(name) {
		s.sink.Field(name, value)
	}
}

func ofBody(name []byte) bool {
	for _, hidden := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Expect"} {
		if bytes.EqualFold(name, []byte(hidden)) {
			return true
		}
	}
	return false
}
