package static

import (
	"bytes"
	"math"
)

// A span is a part of a file that has been asked for: at least one byte.
type span struct{ first, length int64 }

// last returns the position of the last byte.
func (s span) last() int64 { return s.first + s.length - 1 }

// maxSpans is how many parts one reply has at most.
const maxSpans = 16

// A rangeVerdict is what a Range field comes to.
type rangeVerdict uint8

const (
	ignored       rangeVerdict = iota // the whole file
	satisfiable                       // 206
	unsatisfiable                     // 416
)

// parseRange reads a Range field for a file of size bytes and appends what it
// asks for to spans (RFC 9110 section 14.1.2). An unknown unit and a malformed
// field are ignored; so are more than [maxSpans] parts and parts that add up
// to more than the file, which only an attacker asks for (section 17.15), and
// any range of an empty file, of which no part can be named.
func parseRange(v []byte, size int64, spans []span) ([]span, rangeVerdict) {
	const unit = "bytes="
	if size == 0 || len(v) < len(unit) || !bytes.EqualFold(v[:len(unit)], []byte(unit)) {
		return nil, ignored
	}
	specs, total := 0, int64(0)
	for rest, more := v[len(unit):], true; more; {
		var spec []byte
		spec, rest, more = bytes.Cut(rest, []byte(","))
		spec = bytes.Trim(spec, " \t")
		if len(spec) == 0 {
			continue // section 5.6.1: empty elements of a list are allowed for
		}
		s, ok := parseSpec(spec, size)
		if specs++; !ok || specs > maxSpans {
			return nil, ignored
		}
		if s.length > 0 {
			spans = append(spans, s)
			total += s.length // cannot overflow: at most 16 times a file's size
		}
	}
	switch {
	case specs == 0, total > size:
		return nil, ignored
	case len(spans) == 0:
		return nil, unsatisfiable
	}
	return spans, satisfiable
}

// parseSpec reads "first-last", "first-" or "-suffix". A span of length 0 is
// one that the file cannot satisfy.
func parseSpec(spec []byte, size int64) (s span, ok bool) {
	before, after, found := bytes.Cut(spec, []byte("-"))
	if !found {
		return s, false
	}
	if len(before) == 0 {
		n, ok := parsePosition(after)
		n = min(n, size)
		return span{size - n, n}, ok
	}
	first, ok := parsePosition(before)
	if !ok {
		return s, false
	}
	last := int64(math.MaxInt64)
	if len(after) > 0 {
		if last, ok = parsePosition(after); !ok || last < first {
			return s, false
		}
	}
	if first >= size {
		return s, true
	}
	return span{first, min(last, size-1) - first + 1}, true
}

// parsePosition reads digits; what is beyond 63 bits becomes the largest
// position, which is beyond any file as well.
func parsePosition(b []byte) (n int64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (math.MaxInt64-9)/10 {
			n = math.MaxInt64
			continue
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
