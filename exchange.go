package weighstone

import (
	"io"
	"os"
)

// An Exchange is one request and its response as plain data.
//
// The engine owns it, lends it to one [Handler] at a time, and takes it back
// when the last byte is written or the stream closed, not when the handler
// returns. It is used again for later requests: nothing of it may be kept.
type Exchange struct {
	In  Request
	Out Response

	// Scratch is the handler's workspace. It comes with length zero, and its
	// capacity survives the exchange, so a warm handler that appends here
	// allocates nothing. A body of kind [BodyScratch] is these bytes.
	Scratch []byte

	path []byte // where Site decodes a path that has escapes or dot segments
}

// maxKeptScratch bounds the workspace that a pooled exchange keeps, in bytes,
// so that one large reply does not stay in memory for ever.
const maxKeptScratch = 256 << 10

// Reset makes x ready for the next request, keeping its buffers. The engine
// calls it; the fields of In that the engine does not set afterwards are zero.
func (x *Exchange) Reset() {
	x.In = Request{}
	extra := x.Out.Extra[:0]
	x.Out = Response{Extra: extra}
	if cap(x.Scratch) > maxKeptScratch {
		x.Scratch = nil
	}
	x.Scratch = x.Scratch[:0]
}

// SendPage answers with status 200 and an immutable page, which other
// exchanges may be sending at the same time.
func (x *Exchange) SendPage(p *Page) {
	x.Out.Body = Body{Kind: BodyPage, Page: p, Length: int64(len(p.Bytes))}
}

// SendScratch answers with the bytes now in x.Scratch.
func (x *Exchange) SendScratch(contentType string) {
	x.Out.Type = contentType
	x.Out.Body = Body{Kind: BodyScratch, Length: int64(len(x.Scratch))}
}

// SendFile answers with length bytes of f from offset. The exchange owns f
// from now on: the engine closes it when the last byte is written or the
// connection is lost.
func (x *Exchange) SendFile(f *os.File, offset, length int64) {
	x.Out.Body = Body{Kind: BodyFile, File: f, Offset: offset, Length: length}
}

// SendShared is SendFile of a file that stays the handler's, open as long as
// anything refers to it. Its own offset is not used.
func (x *Exchange) SendShared(f *os.File, offset, length int64) {
	x.SendFile(f, offset, length)
	x.Out.Body.Shared = true
}

// SendStream answers with what r yields: length bytes, or, if length is
// negative, up to io.EOF, which the engine frames by chunks or by closing.
// The exchange owns r: the engine closes it exactly once, whether all was
// read or not. A stream that ends early or fails makes the engine break the
// connection, so that the reply never looks complete. Only the handler of a
// route that may wait can stream.
func (x *Exchange) SendStream(r io.ReadCloser, length int64) {
	x.Out.Body = Body{Kind: BodyStream, Stream: r, Length: length}
}

// Fail answers with the small plain page that every engine sends for status,
// dropping what had been prepared (a file or stream is closed).
func (x *Exchange) Fail(status int) {
	x.Out.Body.Close()
	extra := x.Out.Extra[:0]
	x.Out = Response{Status: status, Extra: extra, Close: x.Out.Close}
	x.Scratch = appendErrorPage(x.Scratch[:0], status)
	x.SendScratch("text/plain; charset=utf-8")
}

// AddField adds a header line to the response. Name and value must hold no
// CR, LF or NUL; [Exchange.Out].Type and the framing fields have their own
// places.
func (x *Exchange) AddField(name, value string) {
	x.Out.Extra = append(x.Out.Extra, Field{Name: name, Value: value})
}
