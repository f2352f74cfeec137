package static

import (
	"net/http"

	"github.com/weighstone/weighstone"
)

// A Document is content that comes from elsewhere than a file, and is answered
// as a file in memory would be.
type Document struct {
	Type         string // Content-Type
	ETag         string // strong, quoted
	LastModified string // as a field has it
	Bytes        []byte // belong to the exchange from Answer on
}

// Answer fills the response of x with d, or with what preconditions and ranges
// make of it.
func (d *Document) Answer(x *weighstone.Exchange) {
	fa := facts{contentType: d.Type, size: int64(len(d.Bytes)), etag: d.ETag, lastModified: d.LastModified}
	if unconditional(x.In.Fields) {
		owned(d.Bytes).whole(x, &fa)
		return
	}
	fa.modified, _ = http.ParseTime(d.LastModified)
	answer(x, &fa, owned(d.Bytes))
}

// owned is a body of bytes that nobody else has. Parts of it are copied.
type owned []byte

func (l owned) whole(x *weighstone.Exchange, fa *facts) {
	x.Scratch = l
	x.SendScratch(fa.contentType)
	fa.add(x)
	x.AddField("Accept-Ranges", "bytes")
}

func (l owned) part(x *weighstone.Exchange, fa *facts, s span) {
	x.Scratch = append(x.Scratch[:0], l[s.first:s.first+s.length]...)
	x.SendScratch(fa.contentType)
	fa.add(x)
	x.AddField("Accept-Ranges", "bytes")
}

func (l owned) read(dst []byte, s span) ([]byte, error) {
	return append(dst, l[s.first:s.first+s.length]...), nil
}

func (l owned) readable(int64) bool { return true }

func (l owned) drop() {}
