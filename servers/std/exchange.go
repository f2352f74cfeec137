package std

import (
	"net/http"
	"unsafe"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// An exchange is an Exchange with what the adapter needs beside it. It belongs
// to one request at a time and is pooled.
type exchange struct {
	weighstone.Exchange
	fields fields
	body   netconn.Body
}

// view returns the bytes of s, which must not be written to. It is never nil.
func view(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// fill makes the exchange that of r.
func (x *exchange) fill(r *http.Request, c *netconn.Conn, limit int64) {
	x.Reset()
	x.fields = fields{header: r.Header, host: r.Host}
	in := &x.In
	in.Method, in.Target, in.Host = view(r.Method), view(r.RequestURI), view(r.Host)
	in.Minor = uint8(min(r.ProtoMinor, 1))
	in.Fields = &x.fields
	in.Length = r.ContentLength
	in.Local, in.Remote = c.Local, c.Remote
	if in.HasBody() {
		x.body.Open(c, in, r.Body, limit)
	}
	c.Begin()
}

// free drops what the exchange refers to.
func (x *exchange) free() {
	x.Reset()
	x.fields = fields{}
	x.body.Close()
}

// fields are the header lines as net/http keeps them: a map without order, with
// Host apart.
type fields struct {
	header http.Header
	host   string
}

// Get implements weighstone.Fields.
func (f *fields) Get(name string) []byte {
	if name == "Host" {
		if f.host == "" { // net/http does not tell an empty one from none
			return nil
		}
		return view(f.host)
	}
	if v := f.header[name]; len(v) > 0 {
		return view(v[0])
	}
	return nil
}

// Each implements weighstone.Fields.
func (f *fields) Each(sink weighstone.FieldSink) {
	if f.host != "" {
		sink.Field([]byte("Host"), view(f.host))
	}
	for name, list := range f.header {
		for _, v := range list {
			sink.Field(view(name), view(v))
		}
	}
}
