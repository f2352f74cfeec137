package accesslog

import (
	"math"
	"strconv"
	"time"

	"github.com/weighstone/weighstone"
)

// appendLine appends the line for a request:
//
//	127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326
//
// The size is that of the body, "-" for none. The identity (RFC 1413) and the
// user are not known.
//
// The combined format of NCSA httpd and Apache ends with Referer and User-Agent
// in quotes, "-" for none.
//
// A line that would be longer than limit has what the client chose cut off,
// which "..." shows; 0 means that lines may have any length.
func appendLine(b []byte, in *weighstone.Request, stamp []byte, status int, sent int64, combined bool, limit int) []byte {
	start := len(b)
	b = appendWithin(b, in, stamp, status, sent, combined, math.MaxInt)
	if limit > 0 && len(b)-start > limit {
		b = appendWithin(b[:start], in, stamp, status, sent, combined, (limit-fixedPart)/clientFields)
	}
	return b
}

// What is in a line beside the clientFields that a client chooses (method,
// target, Referer, User-Agent) takes less than fixedPart: an address of 45 bytes,
// the stamp of 26, twenty digits at most in each number, and the rest.
const (
	clientFields = 4
	fixedPart    = 256
)

// appendWithin appends the line, of each field that the client chose no more than
// most bytes.
func appendWithin(b []byte, in *weighstone.Request, stamp []byte, status int, sent int64, combined bool, most int) []byte {
	if addr := in.Remote.Addr(); addr.IsValid() {
		b = addr.Unmap().AppendTo(b)
	} else {
		b = append(b, '-')
	}
	b = append(b, " - - ["...)
	b = append(b, stamp...)
	b = append(b, `] "`...)
	if len(in.Method) == 0 { // the head was never understood
		b = append(b, '-')
	} else {
		b = appendEscaped(b, in.Method, most)
		b = append(b, ' ')
		b = appendEscaped(b, in.Target, most)
		b = append(b, " HTTP/1."...)
		b = strconv.AppendUint(b, uint64(in.Minor), 10)
	}
	b = append(b, `" `...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if sent > 0 {
		b = strconv.AppendInt(b, sent, 10)
	} else {
		b = append(b, '-')
	}
	if combined {
		b = appendQuoted(b, in.Fields, "Referer", most)
		b = appendQuoted(b, in.Fields, "User-Agent", most)
	}
	return append(b, '\n')
}

// appendQuoted appends a header line's value in quotes. Of a head that was
// never understood there are no lines.
func appendQuoted(b []byte, fields weighstone.Fields, name string, most int) []byte {
	var value []byte
	if fields != nil {
		value = fields.Get(name)
	}
	b = append(b, ` "`...)
	if value == nil {
		b = append(b, '-')
	}
	return append(appendEscaped(b, value, most), '"')
}

// appendEscaped appends s, which a stranger chose, in the manner of Apache's
// log: what could end the field or the line or drive a terminal is written
// \" or \xHH. It appends no more than most bytes, and "..." at the end for what
// that leaves out.
func appendEscaped(b, s []byte, most int) []byte {
	const hex = "0123456789abcdef"
	const escaped, cut = len(`\xHH`), "..."
	start := len(b)
	for _, c := range s {
		if len(b)-start+escaped+len(cut) > most {
			return append(b, cut...)
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c >= 0x7f:
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// A stamp is the time as text, rendered once a second.
type stamp struct {
	second int64
	text   []byte
}

func (s *stamp) at(t time.Time) []byte {
	if sec := t.Unix(); sec != s.second || s.text == nil {
		s.second = sec
		s.text = t.AppendFormat(s.text[:0], "02/Jan/2006:15:04:05 -0700")
	}
	return s.text
}
