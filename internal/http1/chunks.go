package http1

import (
	"errors"
	"math"
)

// Chunks decodes a chunked body (RFC 9112 section 7.1) as it arrives. The zero
// value is ready for one body; it holds no bytes of it.
type Chunks struct {
	// Max bounds the body, in bytes announced; 0 means no bound. A chunk that
	// would exceed it is refused when its size line is read.
	Max int64

	state    chunkState
	size     int64 // of the current chunk; while in its data, what is left of it
	total    int64 // bytes announced before the current chunk
	overhead int64 // bytes of size lines, less what data has paid for
	trailer  int   // bytes of trailer so far
	err      error // what a failed decoder keeps saying
}

// A chunkState names what the next byte belongs to.
type chunkState uint8

const (
	chunkStart    chunkState = iota // the first digit of a size
	chunkSize                       // further digits, white space, ";" or CR
	chunkSpace                      // white space behind a size, before ";"
	chunkExt                        // an extension, to CR
	chunkLineLF                     // the LF of a size line
	chunkData                       // the data
	chunkDataCR                     // the CR behind the data
	chunkDataLF                     // its LF
	trailerStart                    // a trailer line or the CR of the empty line
	trailerName                     // a field name, to the colon
	trailerValue                    // a field value, to CR
	trailerLF                       // the LF of a trailer line
	trailerLastLF                   // the LF of the empty line
	chunksDone                      // nothing: the body has ended
	chunksFailed                    // nothing: the body is malformed
)

// Errors of Chunks.Next.
var (
	ErrChunkSize    = errors.New("decode chunked body: malformed chunk size")
	ErrChunkLine    = errors.New("decode chunked body: malformed chunk extension or line end")
	ErrChunkData    = errors.New("decode chunked body: data longer than its chunk")
	ErrTrailer      = errors.New("decode chunked body: malformed trailer")
	ErrChunkTooMuch = errors.New("decode chunked body: extensions or trailers are too long")
	ErrTooLarge     = errors.New("decode chunked body: body is too large") // Max exceeded: status 413
)

const (
	// maxOverhead bounds what size lines may cost beyond freeOverhead for
	// each and a byte for each byte of data, over the whole body: one long
	// extension is refused, and so are many short ones around little data.
	maxOverhead  = 4 << 10
	freeOverhead = 16

	maxTrailer = 8 << 10 // bytes of all trailer lines
)

// Next consumes n bytes of b and returns those of them that are data, one
// piece at most, as a view of b. done is true when the last chunk and its
// trailers, which are checked and dropped, have been read; what follows in b is
// not consumed. Unless done or failed, it consumes at least one byte, so the
// caller goes on until b is used up. An error stays.
func (c *Chunks) Next(b []byte) (data []byte, n int, done bool, err error) {
	for n < len(b) && c.state != chunkData && c.state < chunksDone {
		c.frame(b[n])
		n++
	}
	if c.state == chunkData && n < len(b) {
		data = b[n:]
		if int64(len(data)) > c.size {
			data = data[:c.size]
		}
		n += len(data)
		c.take(int64(len(data)))
	}
	return data, n, c.state == chunksDone, c.err
}

// take accounts for n bytes of data.
func (c *Chunks) take(n int64) {
	c.overhead = max(0, c.overhead-n)
	c.size -= n
	if c.size == 0 {
		c.state = chunkDataCR
	}
}

func (c *Chunks) fail(err error) {
	c.state, c.err = chunksFailed, err
}

// frame takes one byte that is not data.
func (c *Chunks) frame(ch byte) {
	switch {
	case c.state < chunkData:
		c.sizeLine(ch)
	case c.state == chunkDataCR:
		c.expect(ch, '\r', chunkDataLF, ErrChunkData)
	case c.state == chunkDataLF:
		c.expect(ch, '\n', chunkStart, ErrChunkData)
	default:
		c.trailerByte(ch)
	}
}

// sizeLine takes one byte of a line "size [;extension] CRLF".
func (c *Chunks) sizeLine(ch byte) {
	if c.overhead++; c.overhead > maxOverhead+freeOverhead {
		c.fail(ErrChunkTooMuch)
		return
	}
	switch c.state {
	case chunkStart, chunkSize:
		c.sizeByte(ch)
	case chunkSpace:
		if ch == ';' {
			c.state = chunkExt
		} else if !isSpace(ch) {
			c.fail(ErrChunkLine)
		}
	case chunkExt:
		// Nobody here reads extensions. A quoted string can hold no line
		// end, so it needs no care.
		if ch == '\r' {
			c.state = chunkLineLF
		} else if !isText(ch) {
			c.fail(ErrChunkLine)
		}
	case chunkLineLF:
		if ch == '\n' {
			c.begin()
		} else {
			c.fail(ErrChunkLine)
		}
	}
}

// sizeByte takes one byte of a size, or the byte behind it.
func (c *Chunks) sizeByte(ch byte) {
	if digit := unhex(ch); digit >= 0 {
		if c.size > math.MaxInt64>>4 {
			c.fail(ErrChunkSize)
			return
		}
		c.size = c.size<<4 | int64(digit)
		c.state = chunkSize
		return
	}
	switch {
	case c.state == chunkStart:
		c.fail(ErrChunkSize)
	case ch == '\r':
		c.state = chunkLineLF
	case ch == ';':
		c.state = chunkExt
	case isSpace(ch):
		c.state = chunkSpace
	default:
		c.fail(ErrChunkSize)
	}
}

// begin enters the data of a chunk, or the trailers behind the last one.
func (c *Chunks) begin() {
	if c.size == 0 {
		c.state = trailerStart
		return
	}
	limit := c.Max
	if limit == 0 {
		limit = math.MaxInt64
	}
	if c.size > limit-c.total {
		c.fail(ErrTooLarge)
		return
	}
	c.total += c.size
	c.overhead = max(0, c.overhead-freeOverhead)
	c.state = chunkData
}

// trailerByte takes one byte of the trailer lines, which have the syntax of
// header lines (RFC 9112 section 7.1.2).
func (c *Chunks) trailerByte(ch byte) {
	if c.trailer++; c.trailer > maxTrailer {
		c.fail(ErrChunkTooMuch)
		return
	}
	switch c.state {
	case trailerStart:
		switch {
		case ch == '\r':
			c.state = trailerLastLF
		case isToken[ch]:
			c.state = trailerName
		default:
			c.fail(ErrTrailer)
		}
	case trailerName:
		if ch == ':' {
			c.state = trailerValue
		} else if !isToken[ch] {
			c.fail(ErrTrailer)
		}
	case trailerValue:
		if ch == '\r' {
			c.state = trailerLF
		} else if !isText(ch) {
			c.fail(ErrTrailer)
		}
	case trailerLF:
		c.expect(ch, '\n', trailerStart, ErrTrailer)
	case trailerLastLF:
		c.expect(ch, '\n', chunksDone, ErrTrailer)
	}
}

func (c *Chunks) expect(ch, want byte, next chunkState, err error) {
	if ch != want {
		c.fail(err)
		return
	}
	c.state = next
}

// isText says whether a field value or an extension may hold ch.
func isText(ch byte) bool { return ch >= ' ' && ch != 0x7f || ch == '\t' }
