package scgi

import (
	"bytes"
	"strconv"
)

// An Opening is how a request begins: a netstring of headers. The body
// follows as it is. It is a sink of the CGI variables, which have
// CONTENT_LENGTH first if there is a body; the zero value must be Reset
// before.
type Opening struct {
	buf   []byte
	began bool
}

// room is what is left for the length before the headers and its colon.
const room = 20

// Reset begins a request, reusing memory.
func (o *Opening) Reset() {
	o.buf = append(o.buf[:0], make([]byte, room)...)
	o.began = false
}

// Field adds a header. A NUL, which no header can hold, drops it.
func (o *Opening) Field(name, value []byte) {
	if !o.began {
		o.began = true
		if string(name) == "CONTENT_LENGTH" {
			o.add(name, value)
			o.add([]byte("SCGI"), []byte("1"))
			return
		}
		o.add([]byte("CONTENT_LENGTH"), []byte("0"))
		o.add([]byte("SCGI"), []byte("1"))
	}
	if bytes.IndexByte(value, 0) < 0 {
		o.add(name, value)
	}
}

func (o *Opening) add(name, value []byte) {
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, 0)
	o.buf = append(o.buf, value...)
	o.buf = append(o.buf, 0)
}

// Bytes ends the headers and returns what is to be sent before the body,
// valid until the next Reset. It is called once.
func (o *Opening) Bytes() []byte {
	length := strconv.AppendInt(make([]byte, 0, room), int64(len(o.buf)-room), 10)
	length = append(length, ':')
	start := room - len(length)
	copy(o.buf[start:], length)
	o.buf = append(o.buf, ',')
	return o.buf[start:]
}
