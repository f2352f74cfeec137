package fcgi

import "encoding/binary"

// requestID is that of every request that a gateway sends: there is one at a
// time on a connection.
const requestID = 1

// An Opening is how a request begins: BEGIN_REQUEST and the parameters. It is
// a sink of [cgi.Variables]; the zero value must be Reset before.
type Opening struct {
	buf []byte
}

// paramsAt is where the content of the first PARAMS record begins.
const paramsAt = HeaderLength + 8 + HeaderLength

// Reset begins a request in the responder's role, reusing memory. keep asks
// the application not to close the connection after its reply.
func (o *Opening) Reset(keep bool) {
	begin := [8]byte{1: roleResponder}
	if keep {
		begin[2] = flagKeep
	}
	o.buf = AppendRecord(o.buf[:0], TypeBegin, requestID, begin[:])
	o.buf = appendHeader(o.buf, Header{Type: TypeParams, ID: requestID})
}

// Field adds a parameter.
func (o *Opening) Field(name, value []byte) { o.buf = AppendPair(o.buf, name, value) }

// Bytes ends the parameters and, if the request has no body, its input, and
// returns what is to be sent, valid until the next Reset. It is called once.
func (o *Opening) Bytes(body bool) []byte {
	content := o.buf[paramsAt:]
	if len(content) <= wholeContent {
		padding := -len(content) & 7
		binary.BigEndian.PutUint16(o.buf[paramsAt-4:], uint16(len(content)))
		o.buf[paramsAt-2] = byte(padding)
		o.buf = append(o.buf, make([]byte, padding)...)
	} else {
		o.buf = AppendStream(o.buf[:paramsAt-HeaderLength:paramsAt-HeaderLength], TypeParams, requestID, content)
	}
	o.buf = AppendRecord(o.buf, TypeParams, requestID, nil)
	if !body {
		o.buf = AppendStdin(o.buf, nil)
	}
	return o.buf
}

// AppendStdin appends a part of the request's body; an empty one ends it.
func AppendStdin(dst, part []byte) []byte {
	if len(part) == 0 {
		return AppendRecord(dst, TypeStdin, requestID, nil)
	}
	return AppendStream(dst, TypeStdin, requestID, part)
}

// AppendAbort appends the wish that the application give up the request. It
// may still reply, and ends with END_REQUEST (section 5.4).
func AppendAbort(dst []byte) []byte { return AppendRecord(dst, TypeAbort, requestID, nil) }
