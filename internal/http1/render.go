package http1

import (
	"net/http"
	"strconv"
)

// LastChunk ends a chunked body without trailers.
const LastChunk = "0\r\n\r\n"

// AppendStatusLine appends the status line for code, with an empty phrase if
// the code is not registered. It says HTTP/1.1 whatever the minor version of
// the request: a server states its own (RFC 9110 section 6.2).
func AppendStatusLine(dst []byte, _ uint8, code int) []byte {
	if code == http.StatusOK { // nearly always
		return append(dst, "HTTP/1.1 200 OK\r\n"...)
	}
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, ' ')
	dst = append(dst, http.StatusText(code)...)
	return append(dst, "\r\n"...)
}

// AppendField appends one header line. Name and value must hold no CR, LF or
// NUL: they are not checked.
func AppendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// AppendFieldInt appends one header line whose value is a number.
func AppendFieldInt(dst []byte, name string, v int64) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = strconv.AppendInt(dst, v, 10)
	return append(dst, "\r\n"...)
}

// AppendChunk appends data as one chunk; nothing if it is empty, since a chunk
// of size 0 would end the body.
func AppendChunk(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	dst = AppendChunkHead(dst, len(data))
	dst = append(dst, data...)
	return append(dst, "\r\n"...)
}

// AppendChunkHead appends the size line of a chunk of n bytes. The data and a
// CRLF must follow.
func AppendChunkHead(dst []byte, n int) []byte {
	dst = strconv.AppendUint(dst, uint64(n), 16)
	return append(dst, "\r\n"...)
}
