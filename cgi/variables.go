package cgi

import (
	"bytes"
	"net/netip"
	"strconv"
	"sync"

	"github.com/weighstone/weighstone"
)

// A Script is what the variables say of the program that answers, beside what
// the request itself says. Empty fields give no variable.
type Script struct {
	Interface string // GATEWAY_INTERFACE, "CGI/1.1" for all gateways; empty in process
	Name      string // SCRIPT_NAME: the decoded URL path of the program, without Info
	File      string // SCRIPT_FILENAME: the absolute path of its file
	Info      string // PATH_INFO: the rest of the decoded path, empty or with a leading slash
	Root      string // DOCUMENT_ROOT, without a trailing slash; also gives PATH_TRANSLATED

	AuthType, User string // AUTH_TYPE and REMOTE_USER of a request that was authenticated

	// Length is that of the body in bytes once its transfer coding is removed.
	// It is asked for only when the request does not announce one.
	Length int64
}

// Interface is the value of GATEWAY_INTERFACE (RFC 3875 section 4.1.4).
const Interface = "CGI/1.1"

// Variables hands the meta-variables of x to sink, in a fixed order:
// CONTENT_LENGTH first, if there is a body, as SCGI wants it; then those of
// RFC 3875 section 4.1; then those that PHP and its like expect beside; then
// the header fields as HTTP_*, in the order of their names.
//
// Of the header fields these give no HTTP_* variable: those with a character
// other than a letter, digit or hyphen in the name, since "X_A" and "X-A"
// could not be told apart; Proxy, since HTTP_PROXY configures HTTP clients
// (CVE-2016-5385); Authorization and Proxy-Authorization; Content-Length and
// Content-Type, which have their own; and those about the connection alone.
// The lines of a repeated field become one value.
//
// Names and values are valid during the call of the sink only.
func Variables(x *weighstone.Exchange, s Script, sink weighstone.FieldSink) {
	v := pool.Get().(*variables)
	v.sink = sink
	v.body(&x.In, s.Length)
	v.script(&s)
	v.request(&x.In)
	v.peers(&x.In)
	v.fields(&x.In)
	v.sink = nil
	pool.Put(v)
}

// pool keeps the workspaces of Variables.
var pool = sync.Pool{New: func() any { return new(variables) }}

// variables is the workspace of one call of Variables.
type variables struct {
	sink    weighstone.FieldSink
	pair    []byte  // the name and value being handed over
	text    []byte  // names and values of the header fields
	entries []entry // where they lie in text
}

// put hands over one variable, unless value is empty.
func (v *variables) put(name, value string) {
	if value != "" {
		v.give(name, value)
	}
}

// give hands over one variable.
func (v *variables) give(name, value string) {
	v.pair = append(v.pair[:0], name...)
	v.pair = append(v.pair, value...)
	v.sink.Field(v.pair[:len(name):len(name)], v.pair[len(name):])
}

// giveBytes hands over a variable whose value lies elsewhere.
func (v *variables) giveBytes(name string, value []byte) {
	v.pair = append(v.pair[:0], name...)
	v.sink.Field(v.pair, value)
}

// giveNumber hands over a variable in decimal.
func (v *variables) giveNumber(name string, n int64) {
	v.pair = append(v.pair[:0], name...)
	v.pair = strconv.AppendInt(v.pair, n, 10)
	v.sink.Field(v.pair[:len(name):len(name)], v.pair[len(name):])
}

// giveAddr hands over a bare address.
func (v *variables) giveAddr(name string, a netip.Addr) {
	v.pair = append(v.pair[:0], name...)
	v.pair = a.Unmap().WithZone("").AppendTo(v.pair)
	v.sink.Field(v.pair[:len(name):len(name)], v.pair[len(name):])
}

func (v *variables) body(in *weighstone.Request, spooled int64) {
	n := in.Length
	if n < 0 {
		n = spooled
	}
	if n > 0 {
		v.giveNumber("CONTENT_LENGTH", n)
	}
	if t := in.Fields.Get("Content-Type"); t != nil {
		v.giveBytes("CONTENT_TYPE", t)
	}
}

func (v *variables) script(s *Script) {
	v.put("GATEWAY_INTERFACE", s.Interface)
	v.give("SCRIPT_NAME", s.Name)
	v.put("SCRIPT_FILENAME", s.File)
	v.put("DOCUMENT_ROOT", s.Root)
	v.give("PATH_INFO", s.Info)
	if s.Root != "" && s.Info != "" {
		v.pair = append(v.pair[:0], "PATH_TRANSLATED"...)
		n := len(v.pair)
		v.pair = append(v.pair, s.Root...)
		v.pair = append(v.pair, s.Info...)
		v.sink.Field(v.pair[:n:n], v.pair[n:])
	}
	v.put("AUTH_TYPE", s.AuthType)
	v.put("REMOTE_USER", s.User)
	v.give("REDIRECT_STATUS", "200") // php-cgi refuses to run without it
}

func (v *variables) request(in *weighstone.Request) {
	v.giveBytes("REQUEST_METHOD", in.Method)
	v.giveBytes("QUERY_STRING", in.Query)
	v.giveBytes("REQUEST_URI", originForm(in.Target))
	v.give("REQUEST_SCHEME", "http")
	v.give("SERVER_SOFTWARE", weighstone.Software)
	if in.Minor == 0 {
		v.give("SERVER_PROTOCOL", "HTTP/1.0")
	} else {
		v.give("SERVER_PROTOCOL", "HTTP/1.1")
	}
}

func (v *variables) peers(in *weighstone.Request) {
	if name := hostName(in.Host); len(name) > 0 {
		v.giveBytes("SERVER_NAME", name)
	} else {
		v.localName(in.Local.Addr().Unmap())
	}
	v.giveNumber("SERVER_PORT", int64(in.Local.Port()))
	v.giveAddr("SERVER_ADDR", in.Local.Addr())
	v.giveAddr("REMOTE_ADDR", in.Remote.Addr())
	v.giveAddr("REMOTE_HOST", in.Remote.Addr()) // no look-up of names: section 4.1.9 allows the address
	v.giveNumber("REMOTE_PORT", int64(in.Remote.Port()))
}

// localName is SERVER_NAME for a client that names no host.
func (v *variables) localName(a netip.Addr) {
	if a.Is4() {
		v.giveAddr("SERVER_NAME", a)
		return
	}
	v.pair = append(v.pair[:0], "SERVER_NAME["...)
	v.pair = a.WithZone("").AppendTo(v.pair)
	v.pair = append(v.pair, ']')
	const n = len("SERVER_NAME")
	v.sink.Field(v.pair[:n:n], v.pair[n:])
}

// hostName returns a Host value without its port; an IPv6 address keeps its
// brackets (RFC 3875 section 4.1.14).
func hostName(host []byte) []byte {
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || bytes.IndexByte(host[i:], ']') >= 0 {
		return host
	}
	return host[:i]
}

// originForm returns the path and query of a target in absolute form, and any
// other target as it is.
func originForm(target []byte) []byte {
	if len(target) == 0 || target[0] == '/' {
		return target
	}
	_, rest, ok := bytes.Cut(target, []byte("://"))
	if !ok {
		return target
	}
	if i := bytes.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return []byte("/")
}
