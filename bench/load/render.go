package load

import (
	"strconv"

	"github.com/weighstone/weighstone/bench"
)

// A renderer writes requests as they go on the wire. Its fields are the same
// for all requests of a run.
type renderer struct {
	host  string
	keep  string // what follows the target when the connection is kept, to the Host value
	last  string // the same for the last request of a connection
	heads [][]byte
	turn  int
}

func newRenderer(c *Config, host string) *renderer {
	r := &renderer{host: host, heads: c.Heads}
	if c.HTTP10 {
		r.keep = " HTTP/1.0\r\nConnection: keep-alive\r\nHost: "
		r.last = " HTTP/1.0\r\nHost: "
	} else {
		r.keep = " HTTP/1.1\r\nHost: "
		r.last = " HTTP/1.1\r\nConnection: close\r\nHost: "
	}
	return r
}

// request appends an ask; last says that no other follows on its connection.
func (r *renderer) request(dst []byte, a *bench.Ask, last bool) []byte {
	if a.Raw != nil {
		return append(dst, a.Raw...)
	}
	if a.Method == "" {
		dst = append(dst, "GET "...)
	} else {
		dst = append(append(dst, a.Method...), ' ')
	}
	dst = append(dst, a.Target...)
	if last {
		dst = append(dst, r.last...)
	} else {
		dst = append(dst, r.keep...)
	}
	if a.Host != "" {
		dst = append(dst, a.Host...)
	} else {
		dst = append(dst, r.host...)
	}
	dst = append(dst, "\r\n"...)
	if len(r.heads) > 0 {
		dst = append(dst, r.heads[r.turn]...)
		r.turn = (r.turn + 1) % len(r.heads)
	}
	dst = append(dst, a.Fields...)
	if len(a.Body) > 0 {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(a.Body)), 10)
		dst = append(dst, "\r\n"...)
	}
	dst = append(dst, "\r\n"...)
	return append(dst, a.Body...)
}
