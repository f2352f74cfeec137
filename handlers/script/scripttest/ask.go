// Package scripttest asks handlers of scripts without a server, for their
// tests.
package scripttest

import (
	"fmt"
	"io"
	"net/netip"

	"github.com/weighstone/weighstone"
)

// Lines are the header lines of a request, name and value in turn.
type Lines []string

// Get returns the first line of a name.
func (l Lines) Get(name string) []byte {
	for i := 0; i < len(l); i += 2 {
		if l[i] == name {
			return []byte(l[i+1])
		}
	}
	return nil
}

// Each hands every line to sink.
func (l Lines) Each(sink weighstone.FieldSink) {
	for i := 0; i < len(l); i += 2 {
		sink.Field([]byte(l[i]), []byte(l[i+1]))
	}
}

// An Ask is one request. The zero value of a field is none.
type Ask struct {
	Method, Target string
	Body           io.Reader
	Length         int64 // of the body; -1 for not announced
	Fields         Lines
	Gone           <-chan struct{}
}

// An Answer is a response with its body read.
type Answer struct {
	Status int
	Type   string
	Extra  []weighstone.Field
	Body   string
	Close  bool
}

// Of answers a request by a site.
func (a Ask) Of(site *weighstone.Site) Answer {
	x := new(weighstone.Exchange)
	x.In = weighstone.Request{
		Method: []byte(a.Method), Target: []byte(a.Target), Host: []byte("www.example"), Minor: 1, Fields: a.Fields,
		Body: a.Body, Length: a.Length, Gone: a.Gone,
		Local: netip.MustParseAddrPort("127.0.0.1:80"), Remote: netip.MustParseAddrPort("127.0.0.1:4000"),
	}
	if r := site.Find(x); r != nil {
		r.Handler.Serve(x)
	}
	return read(x)
}

// Get answers a GET.
func Get(site *weighstone.Site, target string) Answer {
	return Ask{Method: "GET", Target: target}.Of(site)
}

// read reads the body as an engine would.
func read(x *weighstone.Exchange) Answer {
	a := Answer{Status: x.Out.Code(), Type: x.Out.Type, Extra: x.Out.Extra, Close: x.Out.Close}
	body := &x.Out.Body
	var all []byte
	var err error
	switch body.Kind {
	case weighstone.BodyPage:
		all, a.Type = body.Page.Bytes, body.Page.Type
	case weighstone.BodyScratch:
		all = x.Scratch
	case weighstone.BodyFile:
		all, err = io.ReadAll(io.NewSectionReader(body.File, body.Offset, body.Length))
	case weighstone.BodyStream:
		all, err = io.ReadAll(body.Stream)
	}
	a.Body = string(all)
	if cerr := body.Close(); err != nil || cerr != nil {
		a.Body += fmt.Sprintf("[read: %v, close: %v]", err, cerr)
	}
	return a
}
