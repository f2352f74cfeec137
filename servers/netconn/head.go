package netconn

import "bytes"

// A headEnd finds the empty line that ends a head in the bytes as they come.
// It need not be exact: it chooses between two time limits, and the library
// parses. (Only a request that was pipelined behind another, or empty lines
// before a request, mislead it, and then the longer limit applies.)
type headEnd struct {
	last [3]byte // the last bytes seen
}

// in says whether the head ends in b, or did before.
func (h *headEnd) in(b []byte) bool {
	if bytes.Contains(b, crlfcrlf) {
		return true
	}
	var seam [6]byte
	n := copy(seam[:], h.last[:])
	n += copy(seam[n:], b)
	if bytes.Contains(seam[:n], crlfcrlf) {
		return true
	}
	for _, c := range b[max(0, len(b)-len(h.last)):] {
		h.last[0], h.last[1], h.last[2] = h.last[1], h.last[2], c
	}
	return false
}

var crlfcrlf = []byte("\r\n\r\n")
