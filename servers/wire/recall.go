package wire

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
)

// maxKnown is the longest head that is remembered, in bytes, and maxStored the
// longest reply.
const (
	maxKnown  = 2 << 10
	maxStored = 128 << 10
)

// Remember makes m answer from c what it can.
func (m *Machine) Remember(c *Cache) { m.cache = c }

// recall answers a request whose head is known byte for byte, and returns the
// head's length; 0 when it is not, or its reply may have changed. An access log
// wants the head taken apart, so with one there is no such answer.
func (m *Machine) recall(in []byte, peer *Peer) (n int) {
	if m.config.Access != nil {
		return 0
	}
	var k *known
	if len(in) <= maxKnown { // nearly always the one head
		n = len(in)
		k = m.cache.head(in)
	}
	if k == nil {
		n = bytes.Index(in[:min(len(in), maxKnown)], []byte("\r\n\r\n")) + len("\r\n\r\n")
		if n < len("\r\n\r\n") || n == len(in) {
			return 0
		}
		k = m.cache.head(in[:n])
	}
	if k == nil || !m.now.Before(k.reply.until) {
		return 0
	}
	m.hit = k.reply
	m.peer = peer
	m.head.Minor, m.head.KeepAlive = k.minor, k.keep
	m.asked = !k.keep
	return n
}

// selective are the header lines of requests that make a reply one for this
// client or this moment, or less than the whole of it (RFC 9111 sections 3.5
// and 5.2.1, RFC 9110 sections 13 and 14). Such requests go the ordinary way.
var selective = [...]string{
	"Cookie", "Authorization", "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
	"If-Range", "Cache-Control", "Pragma", "Expect",
}

// remembered answers the request just parsed from head, if its reply is stored,
// and remembers the head. If not, m.storing says whether the reply may be
// stored.
func (m *Machine) remembered(head []byte) bool {
	in := &m.X.In
	in.Verb = weighstone.MethodOf(in.Method)
	if in.Verb&(weighstone.GET|weighstone.HEAD) == 0 || in.Length != 0 {
		return false
	}
	for _, name := range selective {
		if in.Fields.Get(name) != nil {
			return false
		}
	}
	m.key = append(append(m.key[:0], in.Method...), ' ')
	m.key = append(append(m.key, in.Target...), ' ')
	m.key = append(m.key, in.Host...)
	r := m.cache.reply(m.key)
	if r == nil || !m.now.Before(r.until) {
		m.storing = true
		return false
	}
	m.hit = r
	if m.config.Access == nil && len(head) <= maxKnown {
		m.cache.know(&known{text: string(head), reply: r, minor: m.head.Minor, keep: m.head.KeepAlive})
	}
	return true
}

// store keeps the reply in m.X.Out, if it says that it may be used again.
func (m *Machine) store() {
	m.storing = false
	out := &m.X.Out
	if out.Fresh <= 0 || out.Code() != http.StatusOK || out.Close || out.Body.Kind != weighstone.BodyPage || out.Body.Length > maxStored || !shared(out.Extra) {
		return
	}
	until := m.now.Add(min(out.Fresh, time.Hour))
	page := out.Body.Page
	if r := m.cache.reply(m.key); r != nil && r.page == page && len(out.Extra) == 0 {
		r.until = until // and all heads that are known to ask for it are good again
		return
	}
	r := &stored{key: string(m.key), page: page, until: until}
	r.tail = append(r.tail, page.Head...)
	for i := range out.Extra {
		r.tail = http1.AppendField(r.tail, out.Extra[i].Name, out.Extra[i].Value)
	}
	r.tail = append(r.tail, "\r\n"...)
	if m.X.In.Verb == weighstone.GET {
		r.tail = append(r.tail, page.Bytes...)
		r.sent = int64(len(page.Bytes))
	}
	m.cache.put(r)
}

// shared says that none of a reply's lines makes it one for this client or
// this request (RFC 9111 sections 3 and 4.1).
func shared(extra []weighstone.Field) bool {
	for i := range extra {
		switch strings.ToLower(extra[i].Name) {
		case "set-cookie", "cache-control", "pragma", "expires", "vary":
			return false
		}
	}
	return true
}

// replyStored is [Machine.Reply] for what the cache has answered.
func (m *Machine) replyStored(dst []byte, closing bool) (out []byte, rest Rest, keep bool) {
	r := m.hit
	keep = m.head.KeepAlive && !closing && !m.last()
	dst = m.appendConnection(append(dst, m.ok...), keep)
	if len(r.tail) > maxCopied || m.config.Apart {
		rest.Page = r.tail
	} else {
		dst = append(dst, r.tail...)
	}
	m.peer.Answered++
	m.slot.Answered(http.StatusOK, 0)
	m.slot.Cached.Add(1)
	if m.config.Access != nil {
		m.config.Access.Exchange(&m.X, http.StatusOK, r.sent)
	}
	return dst, rest, keep
}
