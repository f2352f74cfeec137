package api

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// echo answers with the CGI variables of the request, one NAME=value a line,
// sorted; then for a POST a blank line and the body.
type echo struct {
	name string    // SCRIPT_NAME
	pool sync.Pool // *listing
}

func newEcho(name string) *echo {
	return &echo{name: name, pool: sync.Pool{New: func() any { return new(listing) }}}
}

// Serve answers one request.
func (e *echo) Serve(x *weighstone.Exchange) {
	body, ok := readBody(x)
	if !ok {
		return
	}
	post := x.In.Verb == weighstone.POST
	l := e.pool.Get().(*listing)
	defer e.pool.Put(l)
	l.collect(x, cgi.Script{Name: e.name, Info: string(x.In.Path[len(e.name):]), Length: body.Length})
	if post && body.File != nil {
		head := append(l.appendTo(nil), '\n')
		x.Out.Type = "text/plain"
		x.SendStream(&headAndFile{io.MultiReader(bytes.NewReader(head), body.File), body.File}, int64(len(head))+body.Length)
		return
	}
	body.Close()
	out := l.appendTo(l.reply[:0])
	if post {
		out = append(out, '\n')
		out = append(out, body.Mem...) // which may lie in x.Scratch
	}
	x.Scratch = append(x.Scratch[:0], out...)
	x.SendScratch("text/plain")
	if l.reply = out; cap(out) > maxMemory/4 {
		l.reply = nil
	}
}

// headAndFile is a stream of some bytes and then a file.
type headAndFile struct {
	io.Reader
	file *os.File
}

// Close closes the file.
func (h *headAndFile) Close() error { return h.file.Close() }

// A listing is the workspace of one echo: lines of NAME=value.
type listing struct {
	text  []byte
	lines []line
	reply []byte
}

// A line lies in text from start to end, its name up to value.
type line struct{ start, value, end int }

// Field adds a line.
func (l *listing) Field(name, value []byte) {
	start := len(l.text)
	l.text = append(l.text, name...)
	l.text = append(l.text, '=')
	l.text = append(l.text, value...)
	l.lines = append(l.lines, line{start, start + len(name), len(l.text)})
}

// collect lists the variables of x.
func (l *listing) collect(x *weighstone.Exchange, s cgi.Script) {
	l.text, l.lines = l.text[:0], l.lines[:0]
	cgi.Variables(x, s, l)
	slices.SortFunc(l.lines, func(a, b line) int {
		return bytes.Compare(l.text[a.start:a.value], l.text[b.start:b.value])
	})
}

// appendTo appends the lines in order.
func (l *listing) appendTo(dst []byte) []byte {
	for _, ln := range l.lines {
		dst = append(dst, l.text[ln.start:ln.end]...)
		dst = append(dst, '\n')
	}
	return dst
}
