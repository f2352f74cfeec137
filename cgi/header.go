package cgi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone"
)

// Limits of a script's header. RFC 3875 names none.
const (
	MaxLine   = 8 << 10  // bytes of one line
	MaxHeader = 64 << 10 // bytes of all lines together
	MaxLines  = 100
)

// ErrStatus is wrapped by the error for a Status that no reply can have: a
// gateway answers 502 to it and 500 to other faults of a header.
var ErrStatus = errors.New("status is not a number from 200 to 599")

// A Header is what a script says before its body (RFC 3875 section 6). Its
// strings are copies.
type Header struct {
	Status   int    // 0 when not said
	Type     string // Content-Type
	Location string
	Length   int64 // Content-Length, -1 when not said
	// Fields are the others that go to the client: not those about the
	// connection, which a script may not send (section 6.3.4), nor Date and
	// Server, which are the server's, nor X-CGI- extensions (section 6.3.5).
	Fields []weighstone.Field
}

// ParseHeader reads a script's header from the beginning of b. It returns how
// many bytes the header takes, blank line included; 0 and no error when more
// bytes are needed; or an error, whatever bytes may follow. Lines end in LF
// or CRLF. A field without a value is as if not sent (section 6.3).
func ParseHeader(b []byte) (h Header, n int, err error) {
	h.Length = -1
	for lines := 0; ; lines++ {
		i := bytes.IndexByte(b[n:], '\n')
		switch {
		case i > MaxLine, i < 0 && len(b)-n > MaxLine:
			return h, 0, fmt.Errorf("script header: line %d has more than %d bytes", lines+1, MaxLine)
		case i < 0 && len(b) > MaxHeader, n+i+1 > MaxHeader:
			return h, 0, fmt.Errorf("script header: more than %d bytes", MaxHeader)
		case i < 0:
			return h, 0, nil
		}
		line := bytes.TrimSuffix(b[n:n+i], []byte("\r"))
		n += i + 1
		if len(line) == 0 {
			if err := h.check(); err != nil {
				return h, 0, err
			}
			return h, n, nil
		}
		if lines == MaxLines {
			return h, 0, fmt.Errorf("script header: more than %d lines", MaxLines)
		}
		if err := h.line(line); err != nil {
			return h, 0, fmt.Errorf("script header: line %d: %w", lines+1, err)
		}
	}
}

// Local says whether the header asks the server to answer as if Location had
// been requested (section 6.2.2): a path and nothing else. With a status, a
// type or another field a path goes to the client instead, as most servers
// do, so that the field is not lost.
func (h *Header) Local() bool {
	return strings.HasPrefix(h.Location, "/") && !strings.HasPrefix(h.Location, "//") &&
		h.Status == 0 && h.Type == "" && len(h.Fields) == 0
}

// check judges a complete header.
func (h *Header) check() error {
	switch {
	case h.Status == 0 && h.Type == "" && h.Location == "":
		return errors.New("script header: neither Content-Type nor Location nor Status")
	case h.Status == 0 && h.Location != "" && !wellFormed(h.Location):
		// "//host/path" above all is no path: it would send client or
		// server to a host that may come from the request.
		return fmt.Errorf("script header: Location %q is neither a path nor an absolute URI", h.Location)
	}
	return nil
}

// wellFormed says whether a Location is of one of the forms of section 6.3.2.
func wellFormed(location string) bool {
	if location[0] == '/' {
		return !strings.HasPrefix(location, "//")
	}
	scheme, _, ok := strings.Cut(location, ":")
	return ok && scheme != "" && !strings.ContainsAny(scheme, "/?#")
}

// line takes in one header line.
func (h *Header) line(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !isToken(line[:colon]) {
		return errors.New("no field name")
	}
	value := bytes.Trim(line[colon+1:], " \t")
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return errors.New("control character in value")
		}
	}
	if len(value) == 0 {
		return nil
	}
	return h.field(string(line[:colon]), string(value))
}

// field takes in one field with a value.
func (h *Header) field(name, value string) error {
	once := func(dst *string) error {
		if *dst != "" {
			return fmt.Errorf("second %s", name)
		}
		*dst = value
		return nil
	}
	switch strings.ToLower(name) {
	case "content-type":
		return once(&h.Type)
	case "location":
		return once(&h.Location)
	case "status":
		return h.status(value)
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || h.Length >= 0 && h.Length != int64(n) {
			return fmt.Errorf("bad Content-Length %q", value)
		}
		h.Length = int64(n)
	case "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "date", "server":
	default:
		if len(name) < 6 || !strings.EqualFold(name[:6], "x-cgi-") {
			h.Fields = append(h.Fields, weighstone.Field{Name: name, Value: value})
		}
	}
	return nil
}

// status takes in "404 Not Found" or "404".
func (h *Header) status(value string) error {
	if h.Status != 0 {
		return errors.New("second Status")
	}
	code, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || len(code) != 3 || n < 200 || n > 599 {
		return fmt.Errorf("%w: %q", ErrStatus, value)
	}
	h.Status = int(n)
	return nil
}

// isToken says whether b is a token of RFC 9110 section 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return true
}
