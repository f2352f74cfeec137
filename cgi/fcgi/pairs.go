package fcgi

import (
	"encoding/binary"
	"fmt"
)

// MaxPairs bounds the parameters of a request that [Serve] takes, in bytes of
// their encoding. The specification names no bound.
const MaxPairs = 1 << 20

// AppendPair appends a name and a value, each with its length before it: one
// byte up to 127, else four with the top bit set (section 3.4).
func AppendPair(dst, name, value []byte) []byte {
	dst = appendLength(dst, len(name))
	dst = appendLength(dst, len(value))
	dst = append(dst, name...)
	return append(dst, value...)
}

func appendLength(dst []byte, n int) []byte {
	if n < 128 {
		return append(dst, byte(n))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n)|1<<31)
}

// ParsePair reads a pair from the beginning of b, of which name and value are
// parts. It returns how many bytes the pair takes; 0 and no error when more
// are needed; or an error, whatever bytes may follow.
func ParsePair(b []byte) (name, value []byte, n int, err error) {
	nameLength, i := parseLength(b)
	if i == 0 {
		return nil, nil, 0, nil
	}
	valueLength, j := parseLength(b[i:])
	if j == 0 {
		return nil, nil, 0, nil
	}
	if nameLength+valueLength > MaxPairs {
		return nil, nil, 0, fmt.Errorf("FastCGI pair: more than %d bytes", MaxPairs)
	}
	i += j
	if len(b)-i < nameLength+valueLength {
		return nil, nil, 0, nil
	}
	n = i + nameLength + valueLength
	return b[i : i+nameLength : i+nameLength], b[i+nameLength : n : n], n, nil
}

// parseLength returns a length and how many bytes it takes, 0 when more are
// needed.
func parseLength(b []byte) (length, n int) {
	switch {
	case len(b) > 0 && b[0] < 128:
		return int(b[0]), 1
	case len(b) >= 4:
		return int(binary.BigEndian.Uint32(b) &^ (1 << 31)), 4
	}
	return 0, 0
}
