package http1

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// An answer is everything that Request.Parse says about some bytes, as text
// so that a difference can be read.
type answer struct {
	n, status int
	head      string
}

func (a answer) String() string { return fmt.Sprintf("n %d, status %d, %s", a.n, a.status, a.head) }

// whole parses b in one go.
func whole(b []byte, lim *Limits) answer {
	var r Request
	n, status := r.Parse(b, 0, lim)
	return answer{n, status, describe(&r, n)}
}

// pieces parses b as it grows, to each length that cuts names and at last to
// its full length, and returns the first answer that is not "need more".
func pieces(b []byte, cuts []int, lim *Limits) answer {
	var r Request
	seen := 0
	for _, size := range append(cuts, len(b)) {
		if n, status := r.Parse(b[:size], seen, lim); n != 0 || status != 0 {
			return answer{n, status, describe(&r, n)}
		}
		seen = size
	}
	return answer{}
}

func everyByte(b []byte) (cuts []int) {
	for i := range b {
		cuts = append(cuts, i)
	}
	return cuts
}

// describe writes a parsed request on one line; nothing for n == 0, when the
// request is meaningless.
func describe(r *Request, n int) string {
	if n == 0 {
		return ""
	}
	s := fmt.Sprintf("%s %s 1.%d host=%s length=%d", r.Method, r.Target, r.Minor, r.Host, r.Length)
	if r.KeepAlive {
		s += " keep"
	}
	if r.Expect {
		s += " expect"
	}
	return s + list(&r.Fields)
}

// list writes header lines as " [name=value]" each.
func list(f *Fields) string {
	var l lister
	f.Each(&l)
	return l.String()
}

type lister struct{ strings.Builder }

func (l *lister) Field(name, value []byte) { fmt.Fprintf(l, " [%s=%s]", name, value) }

// within fails the test unless view lies in b.
func within(t *testing.T, what string, view, b []byte) {
	t.Helper()
	if len(view) > 0 && !bytes.Contains(b, view) {
		t.Errorf("%s %q is no part of the input", what, view)
	}
}
