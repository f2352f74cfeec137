package static

import (
	"io"
	"net/http"
	"sync"

	"github.com/weighstone/weighstone"
)

// Content gives the contents of files to handlers that put them into replies of
// their own.
type Content struct {
	files *Handler
	pool  sync.Pool // *weighstone.Exchange
}

// NewContent makes a source of what a handler serves, from the same cache.
func NewContent(files *Handler) *Content {
	return &Content{files: files, pool: sync.Pool{New: func() any { return new(weighstone.Exchange) }}}
}

// Append appends the file at path, decoded and normalised as a request's, to
// dst. The status says how the handler would have answered.
func (c *Content) Append(dst, path []byte) ([]byte, int) {
	x := c.pool.Get().(*weighstone.Exchange)
	defer c.pool.Put(x)
	x.Reset()
	x.In.Verb, x.In.Path, x.In.Fields = weighstone.GET, path, none{}
	c.files.Serve(x)
	defer x.Out.Body.Close()
	status := x.Out.Code()
	if status != http.StatusOK {
		return dst, status
	}
	switch b := &x.Out.Body; b.Kind {
	case weighstone.BodyPage:
		dst = append(dst, b.Page.Bytes...)
	case weighstone.BodyScratch:
		dst = append(dst, x.Scratch...)
	case weighstone.BodyFile:
		at := len(dst)
		dst = append(dst, make([]byte, b.Length)...)
		if _, err := io.ReadFull(io.NewSectionReader(b.File, b.Offset, b.Length), dst[at:]); err != nil {
			return dst[:at], http.StatusInternalServerError
		}
	}
	return dst, status
}

// none are the fields of a request without any.
type none struct{}

func (none) Get(string) []byte         { return nil }
func (none) Each(weighstone.FieldSink) {}
