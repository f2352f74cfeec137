package wire

import (
	"net/http"
	"os"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
)

// maxCopied is the largest page that is copied behind its head, in bytes. A
// longer one is sent from where it lies: one sendmsg with two parts costs about
// a microsecond more than one send, a copy of 16 KiB as much.
const maxCopied = 16 << 10

// A Rest is what of a reply follows the rendered bytes: the bytes of a page, or
// part of a file; the receiver of the Rest closes that.
type Rest struct {
	Page   []byte
	File   *os.File
	Shared bool // File stays open
	Offset int64
	Length int64 // of the part of File
}

// Empty says that nothing follows.
func (r *Rest) Empty() bool { return len(r.Page) == 0 && r.File == nil }

// Close closes the file, if there is one and it is not shared.
func (r *Rest) Close() {
	if r.File != nil && !r.Shared {
		r.File.Close()
	}
	r.File = nil
}

// Reply appends the reply to dst: the head, and the body unless it is long or
// in a file; that is the rest. keep says whether the connection can be used
// again; it is false whenever closing is. The exchange is counted and logged.
func (m *Machine) Reply(dst []byte, closing bool) (out []byte, rest Rest, keep bool) {
	if m.hit != nil {
		return m.replyStored(dst, closing)
	}
	if m.storing {
		m.store()
	}
	x := &m.X
	keep = m.head.KeepAlive && !x.Out.Close && !closing && !m.last()
	dst = m.appendHead(dst, keep, false)
	body := &x.Out.Body
	bare := x.In.Verb == weighstone.HEAD || x.Out.Bodyless()
	switch {
	case bare || body.Kind == weighstone.BodyNone:
		body.Close()
	case body.Kind == weighstone.BodyPage && (body.Length > maxCopied || m.config.Apart):
		rest.Page = body.Page.Bytes
	case body.Kind == weighstone.BodyPage:
		dst = append(dst, body.Page.Bytes...)
	case body.Kind == weighstone.BodyScratch:
		dst = append(dst, x.Scratch...)
	case body.Length == 0:
		body.Close()
	case body.Kind == weighstone.BodyFile:
		rest.File, rest.Shared, rest.Offset, rest.Length = body.File, body.Shared, body.Offset, body.Length
		body.File = nil
	}
	sent := body.Length
	if bare {
		sent = 0
	}
	m.finished(sent)
	return dst, rest, keep
}

// last says that the connection has had its number of requests with this one.
func (m *Machine) last() bool {
	return m.config.CloseAfter > 0 && m.peer != nil && m.peer.Answered+1 >= m.config.CloseAfter
}

// finished counts and logs the exchange, of whose body sent bytes went out.
func (m *Machine) finished(sent int64) {
	if m.peer != nil {
		m.peer.Answered++
	}
	code := m.X.Out.Code()
	m.slot.Answered(code, 0)
	if m.config.Access != nil {
		m.config.Access.Exchange(&m.X, code, sent)
	}
}

// appendHead renders status line and header lines. chunked says how a body of
// unknown length is framed, if there is one: by chunks or by closing.
func (m *Machine) appendHead(dst []byte, keep, chunked bool) []byte {
	out := &m.X.Out
	if code := out.Code(); code == 200 {
		dst = append(dst, m.ok...)
	} else {
		dst = http1.AppendStatusLine(dst, 1, code)
		dst = append(dst, m.common...)
	}
	dst = m.appendConnection(dst, keep)
	if out.Body.Kind == weighstone.BodyPage {
		dst = append(dst, out.Body.Page.Head...)
	} else {
		if out.Type != "" {
			dst = http1.AppendField(dst, "Content-Type", out.Type)
		}
		switch {
		case out.Bodyless():
		case out.Body.Length >= 0:
			dst = http1.AppendFieldInt(dst, "Content-Length", out.Body.Length)
		case chunked:
			dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
		}
	}
	for i := range out.Extra {
		dst = http1.AppendField(dst, out.Extra[i].Name, out.Extra[i].Value)
	}
	return append(dst, "\r\n"...)
}

func (m *Machine) appendConnection(dst []byte, keep bool) []byte {
	switch {
	case !keep:
		dst = append(dst, "Connection: close\r\n"...)
	case m.head.Minor == 0:
		dst = append(dst, "Connection: keep-alive\r\n"...)
	}
	return dst
}

// Refuse appends a closing reply with status, for a request that never came to
// its end. It is counted and logged.
func (m *Machine) Refuse(dst []byte, status int) []byte {
	m.X.Reset()
	m.peer, m.hit, m.storing = nil, nil, false
	m.X.Fail(status)
	if status == http.StatusServiceUnavailable {
		m.X.AddField("Retry-After", retryAfter)
	}
	m.X.Out.Close = true
	out, _, _ := m.Reply(dst, true)
	return out
}
