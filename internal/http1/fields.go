package http1

import "github.com/weighstone/weighstone"

// A Field is one header line: views of the buffer that was parsed. The value
// has no outer white space and is never nil.
type Field struct{ Name, Value []byte }

// Fields are the header lines of one head, in order. They live as long as the
// bytes that were parsed stay in place, and no longer than to the next Parse.
type Fields struct {
	list []Field
	has  uint64 // a bit for each name, see bitOf
}

var _ weighstone.Fields = (*Fields)(nil)

// Get returns the value of the first line with this name in any case; nil when
// there is none, which nearly always is one test.
func (f *Fields) Get(name string) []byte {
	if name == "" || f.has&bitOf(len(name), name[0]) == 0 {
		return nil
	}
	for i := range f.list {
		if equalNames(f.list[i].Name, name) {
			return f.list[i].Value
		}
	}
	return nil
}

// Each hands every line to sink, in order.
func (f *Fields) Each(sink weighstone.FieldSink) {
	for i := range f.list {
		sink.Field(f.list[i].Name, f.list[i].Value)
	}
}

// Len returns the number of lines.
func (f *Fields) Len() int { return len(f.list) }

// bitOf maps a name to one of 64 bits by what is free to know of it. Names of
// one length are common ("Accept", "Expect"), hence the first letter.
func bitOf(length int, first byte) uint64 {
	return 1 << ((uint(length) ^ uint(first|0x20)) & 63)
}

// equalNames compares a token with any text, ignoring the case of letters.
func equalNames(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if d := name[i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// parse reads header lines from b[i:] up to and including the empty line, at
// most limit of them, and returns the index behind it.
func (f *Fields) parse(b []byte, i, limit int) (next int, v verdict) {
	list, has := f.list[:0], uint64(0)
	for {
		if i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' {
			f.list, f.has = list, has
			return i + 2, good
		}
		start := i
		var line Field
		if line, i, v = parseField(b, i); v == short {
			return 0, short
		}
		if v == bad && !hasLine(b[start:]) {
			return 0, short
		}
		if len(list) == limit {
			return 0, crowded
		}
		if v == bad {
			return 0, bad
		}
		has |= bitOf(len(line.Name), line.Name[0])
		list = append(list, line)
	}
}

// parseField reads one line "name: value" (RFC 9112 section 5) at b[i:] and
// returns the index behind its line end. A folded line is bad, as is white
// space before the colon (sections 5.1 and 5.2).
func parseField(b []byte, i int) (f Field, next int, v verdict) {
	colon := tokenEnd(b, i)
	if colon >= len(b) {
		return f, 0, short
	}
	if b[colon] != ':' || colon == i {
		return f, 0, bad
	}
	at := colon + 1
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	end := textEnd(b, at)
	if end+1 >= len(b) {
		return f, 0, short
	}
	if b[end] != '\r' || b[end+1] != '\n' {
		return f, 0, bad
	}
	return Field{Name: b[i:colon], Value: trimRight(b[at:end])}, end + 2, good
}
