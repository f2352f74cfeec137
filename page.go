package weighstone

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// A Page is a body that never changes, with its facts worked out once. It is
// made by [NewPage] and shared by any number of exchanges; it lives as long as
// the site does.
type Page struct {
	Type     string    // Content-Type
	Modified time.Time // zero for a page without validators
	ETag     string    // quoted; empty for a page without validators
	Bytes    []byte

	// Fields are the header lines of a complete reply with this page:
	// Content-Type, Content-Length and, with validators, Last-Modified, ETag
	// and Accept-Ranges.
	Fields []Field
	// Head is Fields as they stand on the wire, each line ended by CRLF, for
	// engines that render their own heads.
	Head []byte
}

// NewPage makes a page. With a zero modified time it has no validators and
// takes no ranges, as befits a generated reply.
func NewPage(contentType string, modified time.Time, b []byte) *Page {
	p := &Page{Type: contentType, Modified: modified, Bytes: b}
	p.add("Content-Type", contentType)
	p.add("Content-Length", strconv.Itoa(len(b)))
	if !modified.IsZero() {
		sum := sha256.Sum256(b)
		p.ETag = `"` + hex.EncodeToString(sum[:8]) + `"`
		p.add("Last-Modified", modified.UTC().Format(http.TimeFormat))
		p.add("ETag", p.ETag)
		p.add("Accept-Ranges", "bytes")
	}
	return p
}

func (p *Page) add(name, value string) {
	p.Fields = append(p.Fields, Field{Name: name, Value: value})
	p.Head = append(p.Head, name+": "+value+"\r\n"...)
}
