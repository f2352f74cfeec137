package netconn

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/weighstone/weighstone/internal/http1"
)

// A gate lets only heads through that the strict parser accepts, and refuses
// the others in the library's place. For that it follows the framing, so that
// it knows where each request begins, and what the client owes.
//
// The libraries are lenient each in ways of its own. net/http drops a
// Content-Length beside a Transfer-Encoding, and obeys the Transfer-Encoding of
// an HTTP/1.0 request without closing (transfer.go, parseTransferEncoding and
// fixLength), without a trace that a handler could find; fasthttp takes folded
// lines, names with spaces, any version and bare line feeds (header.go). What
// an engine lets through must not depend on its library, nor may the work that
// is compared. The parser takes 0.1 to 0.6 us, of the 14 that a request costs
// fasthttp and the 50 that it costs net/http.
type gate struct {
	at     gatePhase
	left   int64 // of an announced body
	chunks http1.Chunks
	err    error // why the gate is shut

	held  []byte // read and not handed over; nil or from gateBuffers
	given int    // bytes at the front of held that were handed over before they were judged
	ready int    // bytes at the front of held that may be handed over
	seen  int    // bytes of held that the parser has looked at
	empty int    // bytes of empty lines dropped since the last head
}

// A gatePhase is what the next byte belongs to.
type gatePhase uint8

const (
	gateHead gatePhase = iota
	gateLength
	gateChunked
	gateShut // nothing: the framing is broken
)

var gateBuffers = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// heads are parsers. One is needed only while a head is judged, and its table
// of lines would be the largest part of an idle connection.
var heads = sync.Pool{New: func() any { return new(http1.Request) }}

// read fills p with bytes that have passed.
func (g *gate) read(c *Conn, p []byte) (int, error) {
	if len(p) == 1 && g.at == gateHead && g.ready == 0 {
		return g.peek(c, p)
	}
	for {
		if g.trim(); len(g.held) > 0 && g.ready == 0 {
			g.ready = g.pass(c, g.held)
		}
		switch {
		case g.ready > 0:
			return g.hand(p), nil
		case g.at == gateShut:
			return 0, g.err
		case len(g.held) == 0:
			if n, err := g.straight(c, p); n > 0 || err != nil {
				return n, err
			}
			continue
		}
		if err := g.fill(c); err != nil {
			return 0, err
		}
	}
}

// peek hands over the first byte of the next request unjudged: net/http waits
// for it beside the handler, to see the client leave, and a refusal at that
// time would overtake the reply.
func (g *gate) peek(c *Conn, p []byte) (int, error) {
	for g.trim(); len(g.held) == g.given || string(g.held) == "\r"; g.trim() {
		if err := g.fill(c); err != nil {
			return 0, err
		}
	}
	p[0] = g.held[g.given]
	g.given++
	return 1, nil
}

// trim drops empty lines before a request, which net/http refuses (RFC 9112
// section 2.2 has them ignored).
func (g *gate) trim() {
	if g.at == gateHead && g.given == 0 && g.ready == 0 {
		g.held = g.held[:copy(g.held, g.held[g.emptyLines(g.held):])]
		if len(g.held) == 0 {
			g.release()
		}
	}
}

// emptyLines returns how many bytes at the start of b are empty lines to drop.
// The parser refuses what are too many.
func (g *gate) emptyLines(b []byte) (n int) {
	const most = 8 * len("\r\n")
	for g.empty < most && len(b)-n >= 2 && b[n] == '\r' && b[n+1] == '\n' {
		n += 2
		g.empty += 2
	}
	return n
}

// straight reads into p itself, so that whole requests, which most are, and
// bodies are not copied. What belongs behind what may pass is held, so that
// nothing may be left to return.
func (g *gate) straight(c *Conn, p []byte) (int, error) {
	if g.at == gateLength {
		p = p[:min(int64(len(p)), g.left)]
	}
	n, err := c.receive(p)
	if n == 0 {
		return 0, err
	}
	if g.at == gateHead {
		n = copy(p, p[g.emptyLines(p[:n]):n])
	}
	passed := g.pass(c, p[:n])
	if passed < n {
		g.hold(p[passed:n])
	}
	return passed, nil
}

// hand gives away the front of held.
func (g *gate) hand(p []byte) int {
	n := copy(p, g.held[g.given:g.ready])
	taken := g.given + n
	g.given = 0
	g.ready -= taken
	g.held = g.held[:copy(g.held, g.held[taken:])]
	if len(g.held) == 0 {
		g.release()
	}
	return n
}

// fill reads more into held.
func (g *gate) fill(c *Conn) error {
	if len(g.held) == cap(g.held) {
		g.hold(nil)
	}
	n, err := c.receive(g.held[len(g.held):cap(g.held)])
	g.held = g.held[:len(g.held)+n]
	if n > 0 {
		return nil
	}
	return err
}

// hold appends b, and sees to it that there is room for more.
func (g *gate) hold(b []byte) {
	if g.held == nil {
		g.held = gateBuffers.Get().(*[4 << 10]byte)[:0]
	}
	if len(g.held)+len(b) < cap(g.held) {
		g.held = append(g.held, b...)
		return
	}
	grown := make([]byte, len(g.held), 2*cap(g.held)+len(b))
	copy(grown, g.held)
	g.release()
	g.held = append(grown, b...)
}

// release gives the buffer back.
func (g *gate) release() {
	if cap(g.held) == 4<<10 {
		gateBuffers.Put((*[4 << 10]byte)(g.held[:4<<10]))
	}
	g.held = nil
}

// shut ends the connection's reading with err.
func (g *gate) shut(err error) {
	g.at, g.err = gateShut, err
}

// pass returns how many bytes at the start of b may go to the library: as many
// requests as b has, the last perhaps without all of its body.
func (g *gate) pass(c *Conn, b []byte) (n int) {
	for n < len(b) {
		if g.at == gateHead {
			if n > 0 && b[n] == '\r' { // for trim to drop
				break
			}
			head := g.passHead(c, b[n:], n == 0)
			if head == 0 {
				break
			}
			n += head
		}
		n += g.passBody(b[n:])
		if g.at != gateHead {
			break
		}
		c.phase.Store(serving)
	}
	return n
}

// passHead judges the head at the start of b. If that is not the first thing in
// the buffer, a refusal waits until what is before has been answered and the
// library reads again.
func (g *gate) passHead(c *Conn, b []byte, first bool) (n int) {
	head := heads.Get().(*http1.Request)
	defer heads.Put(head)
	n, status := head.Parse(b, min(g.seen, len(b)), &c.hub.heads)
	bare := false
	if n > 0 && status == 0 && c.hub.Judge != nil {
		if status = c.hub.Judge(head); status != 0 && !first {
			return 0
		}
		bare = string(head.Method) == http.MethodHead
	}
	switch {
	case n == 0 && !first:
		return 0
	case status != 0:
		g.shut(io.ErrUnexpectedEOF)
		c.refuseHead(status, bare)
		return 0
	case n == 0:
		g.seen = len(b)
		if c.phase.Load() == idle {
			c.next(inHead)
		}
		return 0
	}
	g.seen, g.empty = 0, 0
	switch g.left = head.Length; {
	case g.left > 0:
		g.at = gateLength
	case g.left == http1.Chunked:
		g.at = gateChunked
		g.chunks = http1.Chunks{Max: c.hub.site.MaxBody()}
	}
	lowerMinor(b[:n])
	c.next(inBody)
	return n
}

// lowerMinor makes HTTP/1.1 of a higher minor version, which is to be treated
// so (RFC 9110 section 2.5), in a head that is well-formed.
func lowerMinor(head []byte) {
	for len(head) > 0 && head[0] == '\r' {
		head = head[len("\r\n"):]
	}
	if i := bytes.IndexByte(head, '\r'); i > 0 && head[i-1] > '1' {
		head[i-1] = '1'
	}
}

func (g *gate) passBody(b []byte) (n int) {
	switch g.at {
	case gateLength:
		n = int(min(g.left, int64(len(b))))
		if g.left -= int64(n); g.left == 0 {
			g.at = gateHead
		}
	case gateChunked:
		for n < len(b) && g.at == gateChunked {
			_, used, done, err := g.chunks.Next(b[n:])
			switch n += used; {
			case err == http1.ErrTooLarge:
				g.shut(&BodyError{http.StatusRequestEntityTooLarge, err})
			case err != nil:
				g.shut(&BodyError{http.StatusBadRequest, err})
			case done:
				g.at = gateHead
			}
		}
	}
	return n
}
