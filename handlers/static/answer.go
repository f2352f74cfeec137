package static

import (
	"bytes"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/weighstone/weighstone"
)

// A body is where the bytes of a file come from.
type body interface {
	whole(x *weighstone.Exchange, fa *facts)
	part(x *weighstone.Exchange, fa *facts, s span)
	// read appends a part to dst.
	read(dst []byte, s span) ([]byte, error)
	// readable says whether that many bytes can be read at a time.
	readable(n int64) bool
	// drop gives up the body when it is not sent.
	drop()
}

// memory is a page: a body that is in memory and stays. It is one pointer, so
// that as a body it costs no allocation.
type memory struct{ page *weighstone.Page }

func (m memory) bytes() owned { return m.page.Bytes }

func (m memory) whole(x *weighstone.Exchange, _ *facts) { x.SendPage(m.page) }

func (m memory) part(x *weighstone.Exchange, fa *facts, s span) { m.bytes().part(x, fa, s) }

func (m memory) read(dst []byte, s span) ([]byte, error) { return m.bytes().read(dst, s) }

func (m memory) readable(int64) bool { return true }

func (m memory) drop() {}

// disk is a body that is an open file, which the exchange gets with it unless it
// is shared.
type disk struct {
	file   *os.File
	shared bool
}

func (d disk) whole(x *weighstone.Exchange, fa *facts) { d.part(x, fa, span{0, fa.size}) }

func (d disk) part(x *weighstone.Exchange, fa *facts, s span) {
	x.Out.Type = fa.contentType
	fa.add(x)
	x.AddField("Accept-Ranges", "bytes")
	if d.shared {
		x.SendShared(d.file, s.first, s.length)
	} else {
		x.SendFile(d.file, s.first, s.length)
	}
}

func (d disk) read(dst []byte, s span) ([]byte, error) {
	n := len(dst)
	dst = append(dst, make([]byte, s.length)...)
	_, err := d.file.ReadAt(dst[n:], s.first)
	return dst, err
}

// maxGathered is how much of a large file several ranges may gather in memory.
const maxGathered = 64 << 10

func (d disk) readable(n int64) bool { return n <= maxGathered }

func (d disk) drop() {
	if !d.shared {
		d.file.Close()
	}
}

// answer fills the response of x with b, or with what its preconditions and
// its range make of it.
func answer(x *weighstone.Exchange, fa *facts, b body) {
	switch evaluate(x.In.Fields, fa) {
	case failed:
		b.drop()
		x.Fail(http.StatusPreconditionFailed)
		return
	case notModified:
		b.drop()
		x.Out.Status = http.StatusNotModified
		fa.add(x)
		return
	}
	var array [maxSpans]span
	spans, verdict := wanted(x, fa, array[:0])
	switch {
	case verdict == unsatisfiable:
		b.drop()
		x.Fail(http.StatusRequestedRangeNotSatisfiable)
		x.AddField("Content-Range", "bytes */"+strconv.FormatInt(fa.size, 10))
	case verdict == satisfiable && len(spans) == 1:
		x.Out.Status = http.StatusPartialContent
		b.part(x, fa, spans[0])
		x.AddField("Content-Range", string(appendContentRange(nil, spans[0], fa.size)))
	case verdict == satisfiable && b.readable(sum(spans)):
		sendParts(x, fa, b, spans)
	default:
		b.whole(x, fa)
	}
}

// wanted returns the parts that x asks for. Only a GET has ranges (RFC 9110
// section 14.2).
func wanted(x *weighstone.Exchange, fa *facts, spans []span) ([]span, rangeVerdict) {
	f := x.In.Fields
	v := f.Get("Range")
	if v == nil || x.In.Verb != weighstone.GET || !sameVersion(f.Get("If-Range"), fa, time.Now()) {
		return nil, ignored
	}
	return parseRange(v, fa.size, spans)
}

func sum(spans []span) (n int64) {
	for _, s := range spans {
		n += s.length
	}
	return n
}

// appendContentRange appends "bytes first-last/size".
func appendContentRange(dst []byte, s span, size int64) []byte {
	dst = append(dst, "bytes "...)
	dst = strconv.AppendInt(dst, s.first, 10)
	dst = append(dst, '-')
	dst = strconv.AppendInt(dst, s.last(), 10)
	dst = append(dst, '/')
	return strconv.AppendInt(dst, size, 10)
}

// sendParts answers with several parts as multipart/byteranges (RFC 9110
// section 14.6).
func sendParts(x *weighstone.Exchange, fa *facts, b body, spans []span) {
	defer b.drop()
	boundary := "weighstone-" + strings.Trim(fa.etag, `"`)
	for {
		text, err := appendParts(x.Scratch[:0], boundary, fa, b, spans)
		x.Scratch = text
		if err != nil {
			x.Fail(http.StatusInternalServerError)
			return
		}
		if bytes.Count(text, []byte(boundary)) == len(spans)+1 {
			break
		}
		boundary += "-" // the file contains it
	}
	x.Out.Status = http.StatusPartialContent
	x.SendScratch("multipart/byteranges; boundary=" + boundary)
	fa.add(x)
	x.AddField("Accept-Ranges", "bytes")
}

// appendParts appends the parts, each with its own small head.
func appendParts(dst []byte, boundary string, fa *facts, b body, spans []span) ([]byte, error) {
	for i, s := range spans {
		if i > 0 {
			dst = append(dst, "\r\n"...)
		}
		dst = append(append(dst, "--"...), boundary...)
		dst = append(append(dst, "\r\nContent-Type: "...), fa.contentType...)
		dst = append(dst, "\r\nContent-Range: "...)
		dst = appendContentRange(dst, s, fa.size)
		dst = append(dst, "\r\n\r\n"...)
		var err error
		if dst, err = b.read(dst, s); err != nil {
			return dst, err
		}
	}
	dst = append(append(dst, "\r\n--"...), boundary...)
	return append(dst, "--\r\n"...), nil
}
