package http1

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// A decoded body is everything that Chunks says about some bytes.
type decoded struct {
	data string
	n    int // bytes consumed
	done bool
	err  error
}

// decode feeds b in pieces that end at cuts, then the rest.
func decode(c *Chunks, b []byte, cuts []int) (d decoded) {
	for _, end := range append(cuts, len(b)) {
		for d.n < end && !d.done && d.err == nil {
			data, n, done, err := c.Next(b[d.n:end])
			if n == 0 && !done && err == nil {
				panic("no progress")
			}
			d.data += string(data)
			d.n += n
			d.done, d.err = done, err
		}
	}
	return d
}

// filler returns n bytes.
func filler(n int) string { return strings.Repeat("a", n) }

var chunkCases = []struct {
	name string
	in   string
	want decoded // n: all for every byte, any number for a failure
}{
	{"two chunks", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", decoded{"hello", all, true, nil}},
	{"what follows is left", "2\r\nhe\r\n0\r\n\r\nGET", decoded{"he", 12, true, nil}},
	{"empty body", LastChunk, decoded{"", all, true, nil}},
	{"hexadecimal in either case", "0A\r\n0123456789\r\nb\r\nabcdefghijk\r\n0\r\n\r\n", decoded{"0123456789abcdefghijk", all, true, nil}},
	{"leading zeros", "00000005\r\nhello\r\n000\r\n\r\n", decoded{"hello", all, true, nil}},
	{"more zeros than digits fit", strings.Repeat("0", 40) + "5\r\nhello\r\n0\r\n\r\n", decoded{"hello", all, true, nil}},
	{"data that looks like framing", "5\r\n0\r\n\r\n\r\n0\r\n\r\n", decoded{"0\r\n\r\n", all, true, nil}},
	{"extension", "5;a=b\r\nhello\r\n0;c\r\n\r\n", decoded{"hello", all, true, nil}},
	{"quoted extension", "5;a=\"b;c\"\r\nhello\r\n0\r\n\r\n", decoded{"hello", all, true, nil}},
	{"white space before an extension", "5 \t;a=b\r\nhello\r\n0\r\n\r\n", decoded{"hello", all, true, nil}},
	{"extension of 4 KiB", "5;" + filler(4096) + "\r\nhello\r\n0\r\n\r\n", decoded{"hello", all, true, nil}},
	{"trailer", "5\r\nhello\r\n0\r\nX-T: v\r\nX-U:\tw\xe9 \r\n\r\n", decoded{"hello", all, true, nil}},
	{"trailer that frames", "5\r\nhello\r\n0\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n", decoded{"hello", all, true, nil}},
	{"trailer of nearly 8 KiB", "0\r\nX: " + filler(8192-7) + "\r\n\r\n", decoded{"", all, true, nil}},
	{"many extensions beside much data", strings.Repeat("200;sig="+filler(80)+"\r\n"+filler(512)+"\r\n", 100) + LastChunk,
		decoded{filler(51200), all, true, nil}},

	{"cut in a size", "5", decoded{"", all, false, nil}},
	{"cut in data", "5\r\nhel", decoded{"hel", all, false, nil}},
	{"cut behind data", "5\r\nhello", decoded{"hello", all, false, nil}},
	{"cut before the trailers", "5\r\nhello\r\n0\r\n", decoded{"hello", all, false, nil}},
	{"cut in a trailer", "0\r\nX-T: ", decoded{"", all, false, nil}},

	{"0x", "0x5\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"negative", "-5\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"plus", "+5\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"letter", "5g\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"no size", "\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"extension without size", ";a\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"leading space", " 5\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"trailing space", "5 \r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"two sizes", "5 5\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"2^64+5", "10000000000000005\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"2^64-1", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"2^63", "8000000000000000\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"2^63-1 is not received", "7fffffffffffffff\r\nhello", decoded{"hello", all, false, nil}},
	{"data too long", "5\r\nhelloworld\r\n0\r\n\r\n", decoded{"hello", 0, false, ErrChunkData}},
	{"data ended by LF", "5\r\nhello\n0\r\n\r\n", decoded{"hello", 0, false, ErrChunkData}},
	{"data ended by CR", "5\r\nhello\r0\r\n\r\n", decoded{"hello", 0, false, ErrChunkData}},
	{"size ended by LF", "5\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkSize}},
	{"size ended by CR", "5\rhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"LF in an extension", "5;a\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"NUL in an extension", "5;a\x00\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkLine}},
	{"extension of 64 KiB", "5;" + filler(64<<10) + "\r\nhello\r\n0\r\n\r\n", decoded{"", 0, false, ErrChunkTooMuch}},
	{"endless zeros", strings.Repeat("0", 64<<10), decoded{"", 0, false, ErrChunkTooMuch}},
	// Each costs 84 bytes less 17: the 62nd is over the 4112 allowed.
	{"many extensions around little data", strings.Repeat("1;"+filler(80)+"\r\na\r\n", 100), decoded{filler(61), 0, false, ErrChunkTooMuch}},
	{"trailer without colon", "0\r\nnovalue\r\n\r\n", decoded{"", 0, false, ErrTrailer}},
	{"trailer without name", "0\r\n: v\r\n\r\n", decoded{"", 0, false, ErrTrailer}},
	{"folded trailer", "0\r\nX: a\r\n b\r\n\r\n", decoded{"", 0, false, ErrTrailer}},
	{"trailer ended by LF", "0\r\nX: a\n\r\n", decoded{"", 0, false, ErrTrailer}},
	{"body ended by LF", "0\r\n\n", decoded{"", 0, false, ErrTrailer}},
	{"body ended by CR", "0\r\n\rG", decoded{"", 0, false, ErrTrailer}},
	{"endless trailer", "0\r\n" + strings.Repeat("X: y\r\n", 2000), decoded{"", 0, false, ErrChunkTooMuch}},
}

func TestChunks(t *testing.T) {
	for _, c := range chunkCases {
		t.Run(c.name, func(t *testing.T) {
			b := []byte(c.in)
			got := decode(new(Chunks), b, nil)
			if slow := decode(new(Chunks), b, everyByte(b)); slow != got {
				t.Errorf("byte by byte: %+v\nin one go: %+v", slow, got)
			}
			want := c.want
			if want.err != nil {
				want.n = got.n // where exactly it failed says nothing
			} else if want.n == all {
				want.n = len(b)
			}
			if got != want {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// Twenty thousand chunks of one byte are odd but legal.
func TestChunksTiny(t *testing.T) {
	var body, data []byte
	for i := range 20000 {
		data = append(data, byte(' '+i%90))
		body = AppendChunk(body, data[i:])
	}
	body = append(body, LastChunk...)
	if got := decode(new(Chunks), body, nil); got.err != nil || !got.done || got.data != string(data) {
		t.Errorf("done %v, error %v, %d bytes", got.done, got.err, len(got.data))
	}
}

// A body larger than Max is refused by what it announces.
func TestChunksMax(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int64
		want error
	}{
		{"5\r\nhello\r\n0\r\n\r\n", 5, nil},
		{"5\r\nhello\r\n1\r\n", 5, ErrTooLarge},
		{"6\r\n", 5, ErrTooLarge},
		{"7fffffffffffffff\r\n", 64 << 20, ErrTooLarge},
		{"7fffffffffffffff\r\n", math.MaxInt64, nil},
	} {
		if got := decode(&Chunks{Max: c.max}, []byte(c.in), nil); !errors.Is(got.err, c.want) {
			t.Errorf("%q with a bound of %d: error %v, want %v", c.in, c.max, got.err, c.want)
		}
	}
}

// Announced sizes add up to more than 63 bits hold.
func TestChunksTotal(t *testing.T) {
	c := Chunks{total: math.MaxInt64 - 1}
	if got := decode(&c, []byte("2\r\nab"), nil); !errors.Is(got.err, ErrTooLarge) {
		t.Errorf("error %v, want %v", got.err, ErrTooLarge)
	}
}

// The end, good or bad, is final.
func TestChunksAfterEnd(t *testing.T) {
	var c Chunks
	decode(&c, []byte(LastChunk), nil)
	if data, n, done, err := c.Next([]byte("5\r\nhello")); len(data) != 0 || n != 0 || !done || err != nil {
		t.Errorf("after the end: %q, %d, %v, %v", data, n, done, err)
	}
	c = Chunks{}
	decode(&c, []byte("x"), nil)
	if data, n, done, err := c.Next([]byte("5\r\nhello")); len(data) != 0 || n != 0 || done || !errors.Is(err, ErrChunkSize) {
		t.Errorf("after a failure: %q, %d, %v, %v", data, n, done, err)
	}
}

// Whole chunks cost one call each, with data that is a view of the input.
func TestChunksCalls(t *testing.T) {
	b := []byte("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")
	var c Chunks
	var calls []string
	for rest := b; len(rest) > 0; {
		data, n, _, _ := c.Next(rest)
		calls = append(calls, fmt.Sprintf("%s %d", data, n))
		if len(data) > 0 && &data[0] != &rest[bytes.Index(rest, data)] {
			t.Errorf("%q is a copy", data)
		}
		rest = rest[n:]
	}
	if got, want := strings.Join(calls, ", "), "he 5, llo 8,  7"; got != want {
		t.Errorf("calls %q, want %q", got, want)
	}
}
