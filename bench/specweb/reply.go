package specweb

import (
	"bytes"
	"fmt"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// A reply is how far the body of a reply is what it must be.
type reply struct {
	stage stage
	head  []byte // the beginning of a page, until it is complete
	file  rules.Reading
	tail  int // bytes of the page's end that have come
	at    int64
	fault string
}

// A stage says which part of a body comes next.
type stage uint8

const (
	inHead stage = iota // of a page
	inFile
	inTail
	spoilt
)

// begin makes r ready for the reply to what s asks.
func (r *reply) begin(s *session) {
	*r = reply{stage: inHead, head: r.head[:0], file: s.plan.set.Read(s.file, -1)}
	if s.op == rules.Static {
		r.stage = inFile
	}
}

// ad says which advertisement must be in the file.
func (r *reply) ad(s *session, ad int) { r.file = s.plan.set.Read(s.file, ad) }

// wrong notes the first thing that is.
func (r *reply) wrong(why string) {
	if r.stage != spoilt {
		r.stage, r.fault = spoilt, why
	}
}

// take looks at the next bytes.
func (r *reply) take(s *session, b []byte) {
	r.at += int64(len(b))
	if r.stage == inHead {
		if b = r.takeHead(s, b); b == nil {
			return
		}
	}
	if r.stage == inFile {
		n := min(len(b), r.file.Left())
		if !r.file.Matches(b[:n]) {
			r.wrong(fmt.Sprintf("other content than the file's before byte %d of the reply", r.at))
			return
		}
		if b = b[n:]; r.file.Left() == 0 {
			r.stage = inTail
		}
	}
	if r.stage == inTail && len(b) > 0 {
		if s.op == rules.Static || !bytes.HasPrefix([]byte(rules.PageEnd)[r.tail:], b) {
			r.wrong("bytes after the file that do not belong there")
			return
		}
		r.tail += len(b)
	}
}

// takeHead collects the beginning of a page and returns what follows it, nil
// while it is not complete or when it is wrong.
func (r *reply) takeHead(s *session, b []byte) []byte {
	before := len(r.head)
	r.head = append(r.head, b[:min(len(b), rules.MaxPageHead-before)]...)
	var room [64]byte
	query := room[:0]
	if s.op != rules.Post {
		query = rules.AppendQuery(query, s.file)
	}
	rest, whole, ok := rules.CutPageHead(r.head, script(s.op), query)
	switch {
	case !ok:
		r.wrong(fmt.Sprintf("not the head of its page: %q", r.head))
		return nil
	case !whole:
		return nil
	}
	r.stage = inFile
	return b[len(r.head)-len(rest)-before:]
}

// complete says whether all has come, and nothing wrong. A static reply has no
// head of a page, and no end of one.
func (r *reply) complete() bool {
	page := len(r.head) > 0
	return r.stage == inTail && (!page || r.tail == len(rules.PageEnd))
}

// why says what is wrong.
func (r *reply) why() string {
	if r.fault != "" {
		return r.fault
	}
	return fmt.Sprintf("the reply ends after %d bytes of its body", r.at)
}
