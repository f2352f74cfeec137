package http1

import (
	"errors"
	"net/http"
)

// A Response is the head of a reply as a client reads it. It belongs to the
// caller, who uses it again and again; its fields are views of the bytes last
// parsed.
type Response struct {
	Minor     uint8 // 0 or 1: a higher minor version is treated as 1
	Status    int
	Length    int64 // of the body that follows: bytes, Chunked or UntilClose
	KeepAlive bool  // the connection can be used again after the body
	Fields    Fields
}

// Errors of Response.Parse.
var (
	ErrStatusLine = errors.New("parse reply: malformed status line")
	ErrFields     = errors.New("parse reply: malformed header line")
	ErrFraming    = errors.New("parse reply: contradictory or malformed body length")
	ErrHeadSize   = errors.New("parse reply: head is too large")
)

// Parse reads one head at the start of b, the reply to a HEAD request if head
// is set. With n > 0 it was complete and took n bytes; with n and err zero more
// bytes are needed. An interim reply (1xx) is a reply of its own, without body.
func (r *Response) Parse(b []byte, head bool, lim *Limits) (n int, err error) {
	limit := lim.lineEnd(0)
	line := b[:min(len(b), limit)]
	n, v := r.scanLine(line)
	switch {
	case v == good:
	case v == bad && hasLine(line):
		return 0, ErrStatusLine
	case len(line) == limit:
		return 0, ErrHeadSize
	default:
		return 0, nil
	}
	end := min(len(b), lim.head())
	var f framing
	n, v = r.Fields.parse(b[:end], n, lim.fields(), &f)
	switch {
	case v == bad:
		return 0, ErrFields
	case v == crowded, v == short && end == lim.head():
		return 0, ErrHeadSize
	case v == short:
		return 0, nil
	}
	if err := r.settle(&f, head); err != nil {
		return 0, err
	}
	return n, nil
}

// scanLine reads "HTTP/1.1 200 OK" and the line end (RFC 9112 section 4). The
// phrase, and the space before it, may be missing.
func (r *Response) scanLine(b []byte) (next int, v verdict) {
	const size = len("HTTP/1.1 200")
	if len(b) < size+len("\r\n") {
		if hasLine(b) {
			return 0, bad
		}
		return 0, short
	}
	if string(b[:7]) != "HTTP/1." || !isDigit(b[7]) || b[8] != ' ' ||
		!isDigit(b[9]) || b[9] == '0' || !isDigit(b[10]) || !isDigit(b[11]) {
		return 0, bad
	}
	r.Minor = min(b[7]-'0', 1)
	r.Status = int(b[9]-'0')*100 + int(b[10]-'0')*10 + int(b[11]-'0')
	end := size
	if b[end] == ' ' {
		end = textEnd(b, end)
	}
	return lineEnd(b, end)
}

// settle works out how the body is framed (RFC 9112 section 6.3).
func (r *Response) settle(f *framing, head bool) error {
	if f.badLength() || f.codings > 0 && (f.lengths > 0 || r.Minor == 0 || !f.chunked()) {
		return ErrFraming
	}
	switch {
	case head, r.Status < 200, r.Status == http.StatusNoContent, r.Status == http.StatusNotModified:
		r.Length = 0
	case f.codings > 0:
		r.Length = Chunked
	case f.lengths > 0:
		r.Length = f.length
	default:
		r.Length = UntilClose
	}
	r.KeepAlive = f.keepAlive(r.Minor) && r.Length != UntilClose
	return nil
}
