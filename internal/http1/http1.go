// Package http1 parses and renders HTTP/1.0 and HTTP/1.1 (RFC 9110, RFC 9112)
// on slices of bytes. It reads no socket, keeps no connection and allocates
// nothing once its tables have grown, so that the loops, the load generator
// and the fuzzer share it.
//
// A parser gives one of three answers: n bytes consumed, more needed, or bad.
// It judges whole lines: a line is refused when its line feed is there, or
// when it is longer than any line may be, and no sooner. So the answer does
// not depend on how the bytes were cut up on their way. What comes before the
// first line, and the first byte of that line, are judged at once: that byte
// gives a TLS client away.
//
// Whatever a parser returns are views of the buffer it was given, valid for
// as long as the buffer's owner leaves those bytes in place.
package http1

// Limits bound the size of one head. A zero field means the default beside it.
// A buffer of Head bytes always gets an answer other than "more needed".
type Limits struct {
	Line   int // 8 KiB: bytes of the first line, without its line end
	Head   int // 16 KiB: bytes of the head, all line ends included
	Fields int // 128: number of header lines
}

func (l *Limits) head() int   { return orDefault(l.Head, 16<<10) }
func (l *Limits) fields() int { return orDefault(l.Fields, 128) }

// lineEnd is where the first line, begun at start, must have ended.
func (l *Limits) lineEnd(start int) int {
	return max(start, min(start+orDefault(l.Line, 8<<10)+len("\r\n"), l.head()))
}

func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

// A verdict is what a scanner thinks of the bytes it was shown.
type verdict uint8

const (
	good    verdict = iota // complete and well-formed
	short                  // well-formed as far as it goes
	bad                    // no continuation can make it well-formed
	crowded                // more header lines than allowed
	foreign                // of another major version
)

// Values of Request.Length and Response.Length that are no lengths.
const (
	Chunked    int64 = -1 // the body is chunked: give it to Chunks
	UntilClose int64 = -2 // the body ends with the connection; replies only
)
