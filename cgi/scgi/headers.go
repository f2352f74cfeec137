package scgi

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxHeaders bounds the headers that are taken, in bytes. The specification
// names no bound.
const MaxHeaders = 1 << 20

// ParseNetstring reads a netstring from the beginning of b, of which text is a
// part. It returns how many bytes it takes; 0 and no error when more are
// needed; or an error, whatever bytes may follow.
func ParseNetstring(b []byte) (text []byte, n int, err error) {
	length := 0
	for i, c := range b {
		switch {
		case c == ':' && i > 0:
			end := i + 1 + length
			switch {
			case len(b) <= end:
				return nil, 0, nil
			case b[end] != ',':
				return nil, 0, errors.New("SCGI request: netstring does not end in a comma")
			}
			return b[i+1 : end : end], end + 1, nil
		case c < '0' || c > '9' || i > 0 && length == 0:
			return nil, 0, errors.New("SCGI request: netstring has no length")
		}
		if length = length*10 + int(c-'0'); length > MaxHeaders {
			return nil, 0, fmt.Errorf("SCGI request: headers of more than %d bytes", MaxHeaders)
		}
	}
	return nil, 0, nil
}

// ParseHeaders returns the headers that the text of a netstring holds. It
// refuses what the specification forbids: an empty or repeated name, a first
// header other than CONTENT_LENGTH, and the absence of SCGI=1.
func ParseHeaders(text []byte) (map[string]string, error) {
	headers := map[string]string{}
	for first := true; len(text) > 0; first = false {
		name, rest, ok := bytes.Cut(text, []byte{0})
		value, rest, ok2 := bytes.Cut(rest, []byte{0})
		_, twice := headers[string(name)]
		switch {
		case !ok || !ok2:
			return nil, errors.New("SCGI request: last header has no end")
		case len(name) == 0 || twice:
			return nil, fmt.Errorf("SCGI request: header %q is empty or there twice", name)
		case first && string(name) != "CONTENT_LENGTH":
			return nil, fmt.Errorf("SCGI request: first header is %q", name)
		}
		headers[string(name)] = string(value)
		text = rest
	}
	if headers["SCGI"] != "1" {
		return nil, errors.New("SCGI request: no header SCGI of value 1")
	}
	return headers, nil
}
