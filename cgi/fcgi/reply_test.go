package fcgi

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// rec is a record with some padding.
func rec(t Type, id uint16, content string, padding int) string {
	return string(appendHeader(nil, Header{t, id, len(content), padding})) + content + strings.Repeat("\xee", padding)
}

// completed is END_REQUEST with an application's status 3.
const completed = "\x00\x00\x00\x03\x00\x00\x00\x00"

// A heard is what came out of a Reply.
type heard struct {
	out, errs string
	used      int
	done      bool
	err       error
}

// hear feeds b to a reply in pieces of at most so many bytes.
func hear(b string, piece int) (h heard) {
	var r Reply
	var out, errs, pending []byte
	defer func() { h.out, h.errs = string(out), string(errs) }()
	for rest := []byte(b); ; {
		kind, content, n, err := r.Next(pending)
		h.used += n
		pending = pending[n:]
		switch kind {
		case TypeStdout:
			out = append(out, content...)
		case TypeStderr:
			errs = append(errs, content...)
		}
		if err != nil || r.Done() {
			h.done, h.err = r.Done(), err
			return h
		}
		if len(content) > 0 {
			continue
		}
		if len(rest) == 0 {
			return h
		}
		k := min(piece, len(rest))
		pending = append(bytes.Clone(pending), rest[:k]...)
		rest = rest[k:]
	}
}

func TestReply(t *testing.T) {
	long := strings.Repeat("x", MaxContent)
	for name, c := range map[string]struct {
		sent      string
		out, errs string
		done      bool
		err       string
	}{
		"usual":                {rec(6, 1, "head", 4) + rec(6, 1, "", 0) + rec(3, 1, completed, 0), "head", "", true, ""},
		"no empty STDOUT":      {rec(6, 1, "body", 0) + rec(3, 1, completed, 0), "body", "", true, ""},
		"odd padding":          {rec(6, 1, "a", 255) + rec(6, 1, "b", 3) + rec(3, 1, completed, 7), "ab", "", true, ""},
		"largest records":      {rec(6, 1, long, 255) + rec(6, 1, long, 1) + rec(3, 1, completed, 0), long + long, "", true, ""},
		"errors between":       {rec(6, 1, "a", 0) + rec(7, 1, "bad", 5) + rec(6, 1, "b", 0) + rec(7, 1, "", 0) + rec(3, 1, completed, 0), "ab", "bad", true, ""},
		"errors after the end": {rec(6, 1, "a", 0) + rec(6, 1, "", 0) + rec(7, 1, "late", 4) + rec(3, 1, completed, 0), "a", "late", true, ""},
		"stray management":     {rec(10, 0, "", 0) + rec(6, 1, "a", 0) + rec(10, 0, "junk", 4) + rec(3, 1, completed, 0), "a", "", true, ""},
		"cut in a record":      {rec(6, 1, "abc", 0)[:10], "ab", "", false, ""},
		"cut between records":  {rec(6, 1, "abc", 0), "abc", "", false, ""},
		"cut after STDOUT":     {rec(6, 1, "abc", 0) + rec(6, 1, "", 0), "abc", "", false, ""},
		"cut in END":           {rec(6, 1, "abc", 0) + rec(3, 1, completed, 0)[:15], "abc", "", false, ""},
		"cut in END's padding": {rec(3, 1, completed, 3)[:17], "", "", false, ""},
		"busy":                 {rec(3, 1, "\x00\x00\x00\x00\x01\x00\x00\x00", 0), "", "", false, ErrCantMultiplex.Error()},
		"overloaded":           {rec(3, 1, "\x00\x00\x00\x00\x02\x00\x00\x00", 0), "", "", false, ErrOverloaded.Error()},
		"role":                 {rec(3, 1, "\x00\x00\x00\x00\x03\x00\x00\x00", 0), "", "", false, ErrUnknownRole.Error()},
		"strange status":       {rec(3, 1, "\x00\x00\x00\x00\x09\x00\x00\x00", 0), "", "", false, "protocol status 9"},
		"short END":            {rec(3, 1, "\x00", 0), "", "", false, "END_REQUEST of 1 bytes"},
		"version":              {"\x02" + rec(6, 1, "a", 0)[1:], "", "", false, "version 2"},
		"HTTP":                 {"HTTP/1.1 200 OK\r\n", "", "", false, "version 72"},
		"another's id":         {rec(6, 2, "a", 0), "", "", false, "for request 2"},
		"gateway's type":       {rec(5, 1, "a", 0), "", "", false, "STDIN"},
		"STDOUT resurrected":   {rec(6, 1, "", 0) + rec(6, 1, "a", 0), "", "", false, "after its end"},
	} {
		for _, piece := range []int{1, 3, 8, 1 << 20} {
			h := hear(c.sent, piece)
			if h.out != c.out || h.errs != c.errs || h.done != c.done || (h.err == nil) != (c.err == "") || h.err != nil && !strings.Contains(h.err.Error(), c.err) {
				t.Errorf("%s in pieces of %d: %d bytes of output, %q, done %v, %v", name, piece, len(h.out), h.errs, h.done, h.err)
			}
			if h.done && h.used != len(c.sent) {
				t.Errorf("%s: %d of %d bytes used", name, h.used, len(c.sent))
			}
		}
	}
}

// TestReplyLeavesTheRest: bytes after END_REQUEST stay, so that the owner of
// the connection sees that it can't be trusted.
func TestReplyLeavesTheRest(t *testing.T) {
	whole := rec(6, 1, "abc", 0) + rec(3, 1, completed, 0)
	if h := hear(whole+rec(6, 1, "more", 0), 1<<20); !h.done || h.used != len(whole) {
		t.Errorf("%+v, the reply has %d bytes", h, len(whole))
	}
	var r Reply
	for b := []byte(rec(3, 1, completed, 0)); !r.Done(); {
		_, _, n, err := r.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	if r.Status != 3 {
		t.Errorf("application status %d", r.Status)
	}
}

// FuzzReply: whatever an application sends, the reply is the same in whatever
// pieces it arrives, never longer than what came, and done only by a whole
// END_REQUEST.
func FuzzReply(f *testing.F) {
	f.Add([]byte(rec(6, 1, "head", 4)+rec(6, 1, "", 0)+rec(3, 1, completed, 0)), uint64(1))
	f.Add([]byte(rec(7, 1, "error", 0)+rec(10, 0, "", 0)+rec(3, 1, completed, 9)), uint64(2))
	f.Add([]byte(rec(6, 2, "other", 0)), uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		whole := hear(string(b), 1<<20)
		pieces := hear(string(b), 1+rand.New(rand.NewPCG(seed, 0)).IntN(20))
		if whole.out != pieces.out || whole.errs != pieces.errs || whole.done != pieces.done || (whole.err == nil) != (pieces.err == nil) {
			t.Fatalf("%+v at once, %+v in pieces", whole, pieces)
		}
		if len(whole.out)+len(whole.errs) > len(b) || whole.used > len(b) {
			t.Fatalf("%+v of %d bytes", whole, len(b))
		}
		if whole.done && !bytes.Contains(b[:whole.used], []byte("\x01\x03\x00\x01\x00\x08")) {
			t.Fatal("done without an end")
		}
		if errors.Is(whole.err, ErrOverloaded) && whole.done {
			t.Fatal("refused and done")
		}
	})
}
