package http1

import "net/http"

// A Request is the head of a request. It belongs to the caller, who uses it
// again and again; what it holds are views of the bytes last parsed.
type Request struct {
	Method, Target []byte // as sent; the target's form is not checked
	Host           []byte // the Host field, nil when absent

	Minor     uint8 // 0 or 1: a higher minor version is treated as 1 (RFC 9110 section 2.5)
	Length    int64 // of the body: 0 for none, else bytes or Chunked
	KeepAlive bool  // the client wants the connection to persist
	Expect    bool  // it waits for a 100 before it sends the body
	Fields    Fields
}

// maxEmpty is how many empty lines may stand before a request line. RFC 9112
// section 2.2 asks for one: old clients sent it after a body.
const maxEmpty = 8

// Parse reads one head at the start of b.
//
// With n > 0 it was complete and took n bytes, leading empty lines included.
// With n and status 0 more bytes are needed. Any other status is the answer to
// send before closing: 400, 414, 431, 501 or 505. Unless n > 0, what r holds is
// meaningless.
//
// seen is how many bytes of b an earlier call for the same head has looked at,
// 0 on the first; it makes a head that dribbles in cheap.
func (r *Request) Parse(b []byte, seen int, lim *Limits) (n, status int) {
	start, v := skipEmpty(b)
	if v != good {
		return 0, statusOf(v)
	}
	if seen > 0 && nothingNew(b, min(seen, len(b)), start, lim) {
		return 0, 0
	}
	i, status := r.parseLine(b, start, lim)
	if i == 0 {
		return 0, status
	}
	end := min(len(b), lim.head())
	var f framing
	n, v = r.Fields.parse(b[:end], i, lim.fields(), &f)
	switch {
	case v == good:
		if status := r.settle(&f); status != 0 {
			return 0, status
		}
		return n, 0
	case v == short && end == lim.head():
		return 0, http.StatusRequestHeaderFieldsTooLarge
	}
	return 0, statusOf(v)
}

// nothingNew says whether b[seen:] neither ends a line nor reaches a limit, so
// that the answer is still that more is needed.
func nothingNew(b []byte, seen, start int, lim *Limits) bool {
	end := lim.lineEnd(start)
	return !hasLine(b[seen:]) && (len(b) < end || seen >= end) && len(b) < lim.head()
}

// statusOf is the answer that a verdict other than good leads to.
func statusOf(v verdict) int {
	switch v {
	case bad:
		return http.StatusBadRequest
	case crowded:
		return http.StatusRequestHeaderFieldsTooLarge
	}
	return 0
}

// skipEmpty returns where the request line begins: behind a few empty lines,
// and at a byte that can begin a method.
func skipEmpty(b []byte) (start int, v verdict) {
	for start < len(b) && !isToken[b[start]] {
		if b[start] != '\r' || start == 2*maxEmpty {
			return 0, bad
		}
		if start+1 == len(b) {
			return 0, short
		}
		if b[start+1] != '\n' {
			return 0, bad
		}
		start += 2
	}
	if start == len(b) {
		return 0, short
	}
	return start, good
}

// parseLine reads the request line (RFC 9112 section 3) at b[start:] and
// returns the index behind it, or 0 and the status as Parse does.
func (r *Request) parseLine(b []byte, start int, lim *Limits) (next, status int) {
	limit := lim.lineEnd(start)
	line := b[:min(len(b), limit)]
	next, v := r.scanLine(line, start)
	switch {
	case v == good:
		return next, 0
	case v == foreign:
		return 0, http.StatusHTTPVersionNotSupported
	case v == bad && hasLine(line[start:]):
		return 0, http.StatusBadRequest
	case len(line) == limit:
		return 0, http.StatusRequestURITooLong
	}
	return 0, 0
}

// scanLine splits "method SP target SP version CRLF" at b[i:].
func (r *Request) scanLine(b []byte, i int) (next int, v verdict) {
	space := tokenEnd(b, i)
	if space == len(b) {
		return 0, short
	}
	if b[space] != ' ' {
		return 0, bad
	}
	r.Method = b[i:space]
	i = space + 1
	space = targetEnd(b, i)
	if space == len(b) {
		return 0, short
	}
	if b[space] != ' ' || space == i {
		return 0, bad
	}
	r.Target = b[i:space]
	return r.scanVersion(b, space+1)
}

// scanVersion reads "HTTP/1.1" and the line end at b[i:].
func (r *Request) scanVersion(b []byte, i int) (next int, v verdict) {
	const size = len("HTTP/1.1\r\n")
	if len(b)-i < size {
		if hasLine(b[i:]) {
			return 0, bad
		}
		return 0, short
	}
	line := b[i : i+size]
	if string(line) == "HTTP/1.1\r\n" { // nearly always
		r.Minor = 1
		return i + size, good
	}
	if string(line[:5]) != "HTTP/" || !isDigit(line[5]) || line[6] != '.' || !isDigit(line[7]) || string(line[8:]) != "\r\n" {
		return 0, bad
	}
	if line[5] != '1' {
		return 0, foreign
	}
	r.Minor = min(line[7]-'0', 1)
	return i + size, good
}

// settle works out from the header lines what body follows and what becomes
// of the connection, and returns the status that refuses the request, or 0.
func (r *Request) settle(f *framing) (status int) {
	if f.hosts > 1 || f.hosts == 0 && r.Minor > 0 || !validHost(f.host) {
		return http.StatusBadRequest
	}
	// Two lengths, even equal ones, or a length beside a coding, are how
	// requests are smuggled past a proxy (RFC 9112 section 11.2).
	if f.lengths > 1 || f.badLength() || f.codings > 0 && (f.lengths > 0 || r.Minor == 0) {
		return http.StatusBadRequest
	}
	r.Host = f.host
	r.Length = f.length
	if f.codings > 0 {
		if !f.chunked() {
			return refuseCoding(&r.Fields)
		}
		r.Length = Chunked
	}
	r.KeepAlive = f.keepAlive(r.Minor)
	r.Expect = f.expect && r.Minor > 0 && r.Length != 0
	return 0
}

// refuseCoding chooses the status for transfer codings other than a single
// "chunked": 501 for codings that are unknown here but could be decoded (RFC
// 9112 section 6.1), 400 for a list that is malformed or leaves the end of the
// body unknown (section 6.3).
func refuseCoding(fields *Fields) (status int) {
	last := false // "chunked" was seen, and must have been the last
	for i := range fields.list {
		name, rest := fields.at(i)
		if !isFold(name, "transfer-encoding") {
			continue
		}
		for more := true; more; {
			var coding []byte
			coding, rest, more = cutList(rest)
			if last || len(coding) == 0 || tokenEnd(coding, 0) != len(coding) {
				return http.StatusBadRequest
			}
			last = isFold(coding, "chunked")
		}
	}
	return http.StatusNotImplemented
}
