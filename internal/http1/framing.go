package http1

import (
	"bytes"
	"math"
)

// framing is what the header lines say about body and connection, before it
// is known whether that makes sense.
type framing struct {
	host    []byte
	hosts   int
	length  int64 // of the first Content-Length line; malformed: noLength
	lengths int
	unequal bool   // a later Content-Length line said something else
	coding  []byte // the last Transfer-Encoding line
	codings int
	close   bool
	keep    bool
	expect  bool
}

// noLength marks a Content-Length that is no number.
const noLength = -1

// framingBits are the bits of the names that read knows.
const framingBits = 1<<((4^'h')&63) | 1<<((6^'e')&63) | 1<<((10^'c')&63) | 1<<((14^'c')&63) | 1<<((17^'t')&63)

// read takes notice of a line if it matters. The lengths of the names differ.
func (f *framing) read(name, value []byte) {
	switch len(name) {
	case len("host"):
		if isFold(name, "host") {
			f.host = value
			f.hosts++
		}
	case len("expect"):
		if isFold(name, "expect") {
			f.expect = f.expect || isFold(value, "100-continue")
		}
	case len("connection"):
		if isFold(name, "connection") {
			f.options(value)
		}
	case len("content-length"):
		if isFold(name, "content-length") {
			f.addLength(parseLength(value))
		}
	case len("transfer-encoding"):
		if isFold(name, "transfer-encoding") {
			f.coding = value
			f.codings++
		}
	}
}

func (f *framing) addLength(n int64) {
	if f.lengths == 0 {
		f.length = n
	}
	f.unequal = f.unequal || n != f.length
	f.lengths++
}

// badLength says whether the Content-Length lines name no length, or several.
func (f *framing) badLength() bool {
	return f.lengths > 0 && (f.length == noLength || f.unequal)
}

// options reads a list of connection options (RFC 9110 section 7.6.1); empty
// and unknown ones mean nothing.
func (f *framing) options(list []byte) {
	for more := true; more; {
		var option []byte
		option, list, more = cutList(list)
		switch {
		case isFold(option, "close"):
			f.close = true
		case isFold(option, "keep-alive"):
			f.keep = true
		}
	}
}

// keepAlive says whether the connection persists (RFC 9112 section 9.3).
func (f *framing) keepAlive(minor uint8) bool {
	return !f.close && (minor > 0 || f.keep)
}

// chunked says whether the only transfer coding is "chunked", once.
func (f *framing) chunked() bool {
	return f.codings == 1 && isFold(f.coding, "chunked")
}

// cutList splits the first element, without outer white space, off a
// comma-separated list that has no quoted strings, and says whether there are
// more.
func cutList(list []byte) (element, rest []byte, more bool) {
	element, rest, more = bytes.Cut(list, []byte{','})
	return trim(element), rest, more
}

// parseLength reads digits only; anything else, and what exceeds 63 bits, is
// noLength. Leading zeros are digits.
func parseLength(v []byte) int64 {
	if len(v) == 0 {
		return noLength
	}
	var n int64
	for _, c := range v {
		if !isDigit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return noLength
		}
		n = 10*n + int64(c-'0')
	}
	return n
}
