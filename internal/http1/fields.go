package http1

import "github.com/weighstone/weighstone"

// Fields are the header lines of one head, in order. They view the buffer that
// was parsed: they live as long as its bytes stay in place, and no longer than
// to the next Parse.
type Fields struct {
	buf  []byte
	list []span
	has  uint64 // a bit for each name, see bitOf
}

// A span says where one header line is in the buffer. It is a third of the size
// of two slices, and no business of the garbage collector.
type span struct{ name, colon, value, end int32 }

var _ weighstone.Fields = (*Fields)(nil)

// Get returns the value of the first line with this name in any case, without
// outer white space; nil when there is none, which nearly always is one test.
func (f *Fields) Get(name string) []byte {
	if name == "" || f.has&bitOf(len(name), name[0]) == 0 {
		return nil
	}
	for i := range f.list {
		if s := &f.list[i]; int(s.colon-s.name) == len(name) && equalNames(f.buf[s.name:s.colon], name) {
			return f.buf[s.value:s.end]
		}
	}
	return nil
}

// Each hands every line to sink, in order.
func (f *Fields) Each(sink weighstone.FieldSink) {
	for i := range f.list {
		sink.Field(f.at(i))
	}
}

// Len returns the number of lines.
func (f *Fields) Len() int { return len(f.list) }

// at returns line i. The value is never nil.
func (f *Fields) at(i int) (name, value []byte) {
	s := &f.list[i]
	return f.buf[s.name:s.colon], f.buf[s.value:s.end]
}

// bitOf maps a name to one of 64 bits by what is free to know of it. Names of
// one length are common ("Accept", "Expect"), hence the first letter.
func bitOf(length int, first byte) uint64 {
	return 1 << ((uint(length) ^ uint(first|0x20)) & 63)
}

// equalNames compares a token with a text of the same length, ignoring the case
// of letters.
func equalNames(b []byte, name string) bool {
	for i, c := range b {
		if d := name[i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// parse reads header lines from b[i:] up to and including the empty line, at
// most limit of them, and returns the index behind it. Lines that may matter
// for the framing it shows to fr.
func (f *Fields) parse(b []byte, i, limit int, fr *framing) (next int, v verdict) {
	list, has := f.list[:0], uint64(0)
	for {
		if i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' {
			f.buf, f.list, f.has = b, list, has
			return i + 2, good
		}
		line, next, v := parseField(b, i)
		switch {
		case v == short, v == bad && !hasLine(b[i:]):
			return 0, short
		case len(list) == limit:
			return 0, crowded
		case v == bad:
			return 0, bad
		}
		bit := bitOf(int(line.colon)-i, b[i])
		if bit&framingBits != 0 {
			fr.read(b[i:line.colon], b[line.value:line.end])
		}
		has |= bit
		list = append(list, line)
		i = next
	}
}

// parseField reads one line "name: value" (RFC 9112 section 5) at b[i:] and
// returns the index behind its line end. A folded line is bad, as is white
// space before the colon (sections 5.1 and 5.2).
func parseField(b []byte, i int) (s span, next int, v verdict) {
	colon := nameEnd(b, i)
	if colon >= len(b) {
		return s, 0, short
	}
	if b[colon] != ':' || colon == i {
		return s, 0, bad
	}
	at := colon + 1
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	stop := textEnd(b, at)
	if next, v = lineEnd(b, stop); v != good {
		return s, 0, v
	}
	end := stop
	for end > at && isSpace(b[end-1]) {
		end--
	}
	return span{int32(i), int32(colon), int32(at), int32(end)}, next, good
}
