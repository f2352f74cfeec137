package http1

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// isToken are the bytes of a token (RFC 9110 section 5.6.2): methods, field
// names, connection options.
var isToken = setOf("!#$%&'*+-.^_`|~", letters, digits)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

func setOf(members ...string) (set [256]bool) {
	for _, m := range members {
		for i := range len(m) {
			set[m[i]] = true
		}
	}
	return set
}

// tokenEnd returns the index of the first byte from i on that no token has.
func tokenEnd(b []byte, i int) int {
	for i < len(b) && isToken[b[i]] {
		i++
	}
	return i
}

// Eight copies of one byte, for looking at eight bytes at a time.
const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	spaces = ' ' * ones
	dels   = 0x7f * ones
)

// below marks, in the high bit of each byte, the bytes of w that are less than
// the byte that floor repeats, or DEL. Its lowest mark is exact: a borrow can
// only spoil bytes above a true one.
func below(w, floor uint64) uint64 {
	d := w ^ dels
	return ((w-floor)&^w | (d-ones)&^d) & highs
}

// targetEnd returns the index of the first byte from i on that no request
// target has: a control character, a space or DEL.
func targetEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := below(binary.LittleEndian.Uint64(b[i:]), spaces+ones); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] > ' ' && b[i] != 0x7f {
		i++
	}
	return i
}

// textEnd returns the index of the first byte from i on that no field value
// has: a control character other than TAB (RFC 9110 section 5.5).
func textEnd(b []byte, i int) int {
	for {
		i = controlAt(b, i)
		if i == len(b) || b[i] != '\t' {
			return i
		}
		i++
	}
}

func controlAt(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := below(binary.LittleEndian.Uint64(b[i:]), spaces); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != 0x7f {
		i++
	}
	return i
}

// hasLine says whether b holds a line feed.
func hasLine(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// trim drops white space (SP and TAB) around v.
func trim(v []byte) []byte {
	for len(v) > 0 && isSpace(v[0]) {
		v = v[1:]
	}
	return trimRight(v)
}

func trimRight(v []byte) []byte {
	for len(v) > 0 && isSpace(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	return v
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isFold says whether b is word in any case. The word is in lower case.
func isFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
