package std

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/netconn"
)

// values are what the header map of a reply points to. They live with the
// connection, since net/http reads the map until the reply is written, which
// is after the exchange has gone back to its pool.
type values [12]string

// Values that never change.
var (
	software  = []string{weighstone.Software}
	closeConn = []string{"close"}
)

// write sends the reply of x.
func (s *server) write(w http.ResponseWriter, r *http.Request, x *exchange, c *netconn.Conn) {
	out := &x.Out
	setHeader(w.Header(), out, c.Exchange.(*values))
	bare := x.In.Verb == weighstone.HEAD || out.Bodyless()
	unread := out.Close && x.In.Body != nil && !x.body.Ended()
	switch {
	case unread && out.Body.Kind == weighstone.BodyStream && !bare:
		// The body may be read until the stream is closed.
		_ = http.NewResponseController(w).EnableFullDuplex()
	case unread:
		c.Shut()
	}
	w.WriteHeader(out.Code())
	var sent int64
	ok := true
	if !bare {
		sent, ok = writeBody(w, x)
	}
	if unread {
		c.Shut()
	}
	c.Answered(&x.Exchange, out.Code(), sent)
	if ok {
		return
	}
	if out.Body.Length < 0 && r.ProtoMinor == 0 {
		c.Abort()
	}
	c.Shut()
	panic(http.ErrAbortHandler)
}

// setHeader fills the header map. An entry without values keeps net/http from
// adding one of its own.
func setHeader(h http.Header, out *weighstone.Response, v *values) {
	n := 0
	set := func(name, value string) {
		if _, there := h[name]; there || n == len(v) {
			h[name] = append(h[name], value)
			return
		}
		v[n] = value
		h[name] = v[n : n+1 : n+1]
		n++
	}
	h["Server"] = software
	if out.Close {
		h["Connection"] = closeConn
	}
	switch body := &out.Body; {
	case body.Kind == weighstone.BodyPage:
		for i := range body.Page.Fields {
			set(body.Page.Fields[i].Name, body.Page.Fields[i].Value)
		}
	default:
		if out.Type != "" {
			set("Content-Type", out.Type)
		} else {
			h["Content-Type"] = nil
		}
		if body.Length >= 0 && !out.Bodyless() {
			set("Content-Length", strconv.FormatInt(body.Length, 10))
		}
	}
	for i := range out.Extra {
		set(out.Extra[i].Name, out.Extra[i].Value)
	}
}

// writeBody sends the body and says whether it is complete.
func writeBody(w http.ResponseWriter, x *exchange) (sent int64, ok bool) {
	body := &x.Out.Body
	var n int
	var err error
	switch body.Kind {
	case weighstone.BodyNone:
		return 0, true
	case weighstone.BodyPage:
		n, err = w.Write(body.Page.Bytes)
		return int64(n), err == nil
	case weighstone.BodyScratch:
		n, err = w.Write(x.Scratch)
		return int64(n), err == nil
	case weighstone.BodyFile:
		sent, err = w.(io.ReaderFrom).ReadFrom(&netconn.FilePart{File: body.File, Offset: body.Offset, Left: body.Length})
		return sent, err == nil && sent == body.Length
	}
	return copyStream(w, body)
}

var streamBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyStream sends a stream, each piece as soon as it is there.
func copyStream(w http.ResponseWriter, body *weighstone.Body) (sent int64, ok bool) {
	buf := streamBuffers.Get().(*[32 << 10]byte)
	defer streamBuffers.Put(buf)
	flusher := w.(http.Flusher)
	for body.Length < 0 || sent < body.Length {
		piece := buf[:]
		if body.Length >= 0 {
			piece = piece[:min(int64(len(piece)), body.Length-sent)]
		}
		n, err := body.Stream.Read(piece)
		if n > 0 {
			if _, err := w.Write(piece[:n]); err != nil {
				return sent, false
			}
			flusher.Flush()
			sent += int64(n)
		}
		if err == io.EOF {
			return sent, body.Length < 0 || sent == body.Length
		}
		if err != nil {
			return sent, false
		}
	}
	return sent, true
}
