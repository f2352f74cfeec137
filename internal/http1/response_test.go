package http1

import (
	"fmt"
	"strings"
	"testing"
)

const (
	ok   = "HTTP/1.1 200 OK\r\n"
	asks = true // the reply is to a HEAD request
)

// A reply is everything that Response.Parse says about some bytes.
type reply struct {
	n    int
	err  error
	head string
}

func wholeReply(b []byte, head bool, lim *Limits) reply {
	var r Response
	n, err := r.Parse(b, head, lim)
	if n == 0 || err != nil {
		return reply{n, err, ""}
	}
	s := fmt.Sprintf("1.%d %d length=%d", r.Minor, r.Status, r.Length)
	if r.KeepAlive {
		s += " keep"
	}
	return reply{n, nil, s + list(&r.Fields)}
}

// piecesReply parses b as it grows to each length that cuts names, then whole.
func piecesReply(b []byte, cuts []int, head bool, lim *Limits) reply {
	for _, size := range append(cuts, len(b)) {
		if got := wholeReply(b[:size], head, lim); got.n != 0 || got.err != nil {
			return got
		}
	}
	return reply{}
}

var responseCases = []struct {
	name string
	in   string
	head bool
	n    int
	err  error
	want string
}{
	{"length", ok + "Content-Length: 5\r\n\r\n", false, all, nil, "1.1 200 length=5 keep [Content-Length=5]"},
	{"body untouched", ok + "Content-Length: 5\r\n\r\nhello", false, len(ok) + 21, nil, "1.1 200 length=5 keep [Content-Length=5]"},
	{"chunked", ok + "Transfer-Encoding: chunked\r\n\r\n", false, all, nil, "1.1 200 length=-1 keep [Transfer-Encoding=chunked]"},
	{"until close", ok + end, false, all, nil, "1.1 200 length=-2"},
	{"until close says close", ok + "Connection: close\r\n\r\n", false, all, nil, "1.1 200 length=-2 [Connection=close]"},
	{"http/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", false, all, nil, "1.0 200 length=5 [Content-Length=5]"},
	{"http/1.0 keep-alive", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n", false, all, nil,
		"1.0 200 length=5 keep [Content-Length=5] [Connection=keep-alive]"},
	{"http/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\n", false, all, nil, "1.1 200 length=5 keep [Content-Length=5]"},
	{"close", ok + "Connection: close\r\nContent-Length: 5\r\n\r\n", false, all, nil, "1.1 200 length=5 [Connection=close] [Content-Length=5]"},
	{"head", ok + "Content-Length: 5\r\n\r\n", asks, all, nil, "1.1 200 length=0 keep [Content-Length=5]"},
	{"head, chunked", ok + "Transfer-Encoding: chunked\r\n\r\n", asks, all, nil, "1.1 200 length=0 keep [Transfer-Encoding=chunked]"},
	{"head, no framing", ok + end, asks, all, nil, "1.1 200 length=0 keep"},
	{"continue", "HTTP/1.1 100 Continue\r\n\r\n" + ok, false, 25, nil, "1.1 100 length=0 keep"},
	{"no content", "HTTP/1.1 204 No Content\r\n\r\n", false, all, nil, "1.1 204 length=0 keep"},
	{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, all, nil, "1.1 304 length=0 keep [Content-Length=5]"},
	{"empty phrase", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", false, all, nil, "1.1 200 length=0 keep [Content-Length=0]"},
	{"no phrase", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, all, nil, "1.1 200 length=0 keep [Content-Length=0]"},
	{"phrase beyond ASCII", "HTTP/1.1 404 Pas trouv\xe9\r\nContent-Length: 0\r\n\r\n", false, all, nil, "1.1 404 length=0 keep [Content-Length=0]"},
	{"same length twice", ok + "Content-Length: 5\r\nContent-Length: 05\r\n\r\n", false, all, nil, "1.1 200 length=5 keep [Content-Length=5] [Content-Length=05]"},

	{"nothing", "", false, 0, nil, ""},
	{"cut in the status line", "HTTP/1.1 20", false, 0, nil, ""},
	{"cut in the phrase", "HTTP/1.1 200 O", false, 0, nil, ""},
	{"cut in a field", ok + "Content-Le", false, 0, nil, ""},
	{"cut before the end", ok + "Content-Length: 5\r\n\r", false, 0, nil, ""},

	{"empty line first", end + ok + end, false, 0, ErrStatusLine, ""},
	{"one word", "HTTP/1.1\r\n", false, 0, ErrStatusLine, ""},
	{"http/0.9 body", "<html>hello</html>\n", false, 0, ErrStatusLine, ""},
	{"http/2", "HTTP/2.0 200 OK\r\n", false, 0, ErrStatusLine, ""},
	{"two digits", "HTTP/1.1 20 OK\r\n", false, 0, ErrStatusLine, ""},
	{"four digits", "HTTP/1.1 2000 OK\r\n", false, 0, ErrStatusLine, ""},
	{"status below 100", "HTTP/1.1 099 OK\r\n", false, 0, ErrStatusLine, ""},
	{"status in words", "HTTP/1.1 all well\r\n", false, 0, ErrStatusLine, ""},
	{"control in the phrase", "HTTP/1.1 200 O\x01K\r\n", false, 0, ErrStatusLine, ""},
	{"bare LF", "HTTP/1.1 200 OK\nContent-Length: 5\n\n", false, 0, ErrStatusLine, ""},
	{"bare LF in a field", ok + "Content-Length: 5\n\n", false, 0, ErrFields, ""},
	{"field without colon", ok + "novalue\r\n\r\n", false, 0, ErrFields, ""},
	{"folded field", ok + "X: a\r\n b\r\n\r\n", false, 0, ErrFields, ""},
	{"two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", false, 0, ErrFraming, ""},
	{"malformed length", ok + "Content-Length: 5, 5\r\n\r\n", false, 0, ErrFraming, ""},
	{"malformed length of a HEAD", ok + "Content-Length: -5\r\n\r\n", asks, 0, ErrFraming, ""},
	{"length and coding", ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false, 0, ErrFraming, ""},
	{"other coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", false, 0, ErrFraming, ""},
	{"coding in http/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 0, ErrFraming, ""},
	{"phrase too long", "HTTP/1.1 200 " + strings.Repeat("a", 9000), false, 0, ErrHeadSize, ""},
	{"field too long", ok + "X: " + strings.Repeat("a", 17000), false, 0, ErrHeadSize, ""},
	{"too many fields", ok + strings.Repeat("X: y\r\n", 129), false, 0, ErrHeadSize, ""},
}

func TestResponse(t *testing.T) {
	for _, c := range responseCases {
		t.Run(c.name, func(t *testing.T) {
			b := []byte(c.in)
			want := reply{c.n, c.err, c.want}
			if c.n == all {
				want.n = len(b)
			}
			lim := new(Limits)
			if got := wholeReply(b, c.head, lim); got != want {
				t.Errorf("in one go: %v\nwant %v", got, want)
			}
			if got := piecesReply(b, everyByte(b), c.head, lim); got != want {
				t.Errorf("byte by byte: %v\nwant %v", got, want)
			}
		})
	}
}
