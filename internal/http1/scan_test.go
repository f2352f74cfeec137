package http1

import (
	"bytes"
	"testing"
)

// scanners are the functions that stop at the first byte of a kind.
var scanners = []struct {
	name  string
	scan  func([]byte, int) int
	stops func(byte) bool
}{
	{"tokenEnd", tokenEnd, func(b byte) bool { return !isToken[b] }},
	{"nameEnd", nameEnd, func(b byte) bool { return !isToken[b] }},
	{"targetEnd", targetEnd, func(b byte) bool { return b <= ' ' || b == 0x7f }},
	{"textEnd", textEnd, func(b byte) bool { return b < ' ' && b != '\t' || b == 0x7f }},
}

// Every byte value must be told apart at every place of a word, and in the
// tail that is shorter than a word.
func TestScanners(t *testing.T) {
	for _, c := range scanners {
		for size := range 20 {
			for at := range size {
				for v := range 256 {
					b := bytes.Repeat([]byte{'a'}, size)
					b[at] = byte(v)
					want := size
					if c.stops(byte(v)) {
						want = at
					}
					for from := range at + 1 {
						if got := c.scan(b, from); got != want {
							t.Fatalf("%s: %q from %d: stopped at %d, want %d", c.name, b, from, got, want)
						}
					}
				}
			}
		}
	}
}

// Two odd bytes in a word must not hide or invent one another.
func TestScannersPairs(t *testing.T) {
	for _, c := range scanners {
		for pair := range 1 << 16 {
			b := []byte{'a', byte(pair >> 8), byte(pair), 'a', 'a', 'a', 'a', 'a'}
			want := 0
			for want < len(b) && !c.stops(b[want]) {
				want++
			}
			if got := c.scan(b, 0); got != want {
				t.Fatalf("%s: %q: stopped at %d, want %d", c.name, b, got, want)
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
