package http1

import (
	"bytes"
	"testing"
)

// The scanners look at eight bytes at a time: every byte value must be told
// apart at every place of a word, and in the tail.
func TestScanners(t *testing.T) {
	for _, c := range []struct {
		name  string
		scan  func([]byte, int) int
		stops func(byte) bool
	}{
		{"tokenEnd", tokenEnd, func(b byte) bool { return !isToken[b] }},
		{"targetEnd", targetEnd, func(b byte) bool { return b <= ' ' || b == 0x7f }},
		{"textEnd", textEnd, func(b byte) bool { return b < ' ' && b != '\t' || b == 0x7f }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := range 20 {
				for at := range size {
					for v := range 256 {
						b := bytes.Repeat([]byte{'a'}, size)
						b[at] = byte(v)
						for from := range at + 1 {
							want := size
							if c.stops(byte(v)) {
								want = at
							}
							if got := c.scan(b, from); got != want {
								t.Fatalf("%q from %d: stopped at %d, want %d", b, from, got, want)
							}
						}
					}
				}
			}
		})
	}
}

// Two odd bytes in a word must not hide or invent one another.
func TestScannersPairs(t *testing.T) {
	stops := func(b byte) bool { return b < ' ' && b != '\t' || b == 0x7f }
	for first := range 256 {
		for second := range 256 {
			b := []byte{'a', byte(first), byte(second), 'a', 'a', 'a', 'a', 'a'}
			want := len(b)
			if stops(b[2]) {
				want = 2
			}
			if stops(b[1]) {
				want = 1
			}
			if got := textEnd(b, 0); got != want {
				t.Fatalf("%q: stopped at %d, want %d", b, got, want)
			}
		}
	}
}

func TestIsFold(t *testing.T) {
	for _, c := range []struct {
		b, word string
		want    bool
	}{
		{"close", "close", true}, {"CLOSE", "close", true}, {"cLoSe", "close", true},
		{"closed", "close", false}, {"clos", "close", false}, {"", "close", false},
		{"100-CONTINUE", "100-continue", true},
		{"100\rcontinue", "100-continue", false}, // CR is "-" without a bit
		{"clo\x53e", "close", true}, {"clo\x13e", "close", false},
	} {
		if got := isFold([]byte(c.b), c.word); got != c.want {
			t.Errorf("isFold(%q, %q) = %v", c.b, c.word, got)
		}
	}
}
