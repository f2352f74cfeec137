package static

import (
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
)

// A Document is content that comes from elsewhere than a file, and is answered
// as a file in memory would be.
type Document struct {
	Type     string    // Content-Type
	ETag     string    // strong, quoted
	Modified time.Time // in whole seconds
	Bytes    []byte    // read during Answer only
}

// Answer fills the response of x with d, or with what preconditions and ranges
// make of it. What is sent is copied to x.Scratch.
func (d *Document) Answer(x *weighstone.Exchange) {
	fa := facts{
		contentType:  d.Type,
		size:         int64(len(d.Bytes)),
		etag:         d.ETag,
		modified:     d.Modified,
		lastModified: d.Modified.UTC().Format(http.TimeFormat),
	}
	if unconditional(x.In.Fields) {
		lent(d.Bytes).whole(x, &fa)
		return
	}
	answer(x, &fa, lent(d.Bytes))
}

// lent is a body whose bytes are the handler's for the time of the call only.
type lent []byte

func (l lent) whole(x *weighstone.Exchange, fa *facts) { l.part(x, fa, span{0, fa.size}) }

func (l lent) part(x *weighstone.Exchange, fa *facts, s span) {
	x.Scratch = append(x.Scratch[:0], l[s.first:s.first+s.length]...)
	x.SendScratch(fa.contentType)
	fa.add(x)
	x.AddField("Accept-Ranges", "bytes")
}

func (l lent) read(dst []byte, s span) ([]byte, error) {
	return append(dst, l[s.first:s.first+s.length]...), nil
}

func (l lent) readable(int64) bool { return true }

func (l lent) drop() {}
