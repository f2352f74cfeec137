package wire

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// talk is a connection whose client has said all of in, and then is silent or
// has ended its side.
type talk struct {
	in     []string // one read each
	silent bool
	out    bytes.Buffer
	broken bool // writes fail
}

func (c *talk) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		if c.silent {
			return 0, os.ErrDeadlineExceeded
		}
		return 0, io.EOF
	}
	n := copy(p, c.in[0])
	if c.in[0] = c.in[0][n:]; c.in[0] == "" {
		c.in = c.in[1:]
	}
	return n, nil
}

func (c *talk) Write(p []byte) (int, error) {
	if c.broken {
		return 0, errors.New("broken")
	}
	return c.out.Write(p)
}

func (c *talk) SetReadDeadline(time.Time) error { return nil }

func (c *talk) Interrupt() { c.in, c.silent = nil, true }

// A source is a stream that yields its pieces and then err.
type source struct {
	pieces []string
	err    error
	closed int
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, s.err
	}
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}

func (s *source) Close() error {
	s.closed++
	return nil
}

func config(t *testing.T, stream *source, length int64) Config {
	t.Helper()
	mirror := weighstone.HandlerFunc(func(x *weighstone.Exchange) {
		if x.In.Body == nil {
			x.SendScratch("text/plain")
			return
		}
		b, err := io.ReadAll(x.In.Body)
		if err != nil {
			x.Fail(StatusOf(err))
			return
		}
		x.Scratch = append(x.Scratch, b...)
		x.SendScratch("text/plain")
	})
	all := weighstone.GET | weighstone.HEAD | weighstone.POST
	site, err := weighstone.NewSite(100<<10,
		weighstone.Route{Pattern: "/", Methods: all, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			x.Scratch = append(x.Scratch, "root"...)
			x.SendScratch("text/plain")
		})},
		weighstone.Route{Pattern: "/mirror", Methods: all, Body: weighstone.BodyStreamed, Handler: mirror},
		weighstone.Route{Pattern: "/buffer", Methods: all, Body: weighstone.BodyBuffered, Handler: mirror},
		weighstone.Route{Pattern: "/lazy", Methods: all, Body: weighstone.BodyStreamed, Handler: weighstone.HandlerFunc(func(*weighstone.Exchange) {})},
		weighstone.Route{Pattern: "/stream", Methods: all, Waits: true, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendStream(stream, length) })},
		weighstone.Route{Pattern: "/panic", Methods: all, Waits: true, Handler: weighstone.HandlerFunc(func(*weighstone.Exchange) { panic("oh") })},
	)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Site: site, Log: slog.New(slog.DiscardHandler)}
}

func TestServe(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for _, c := range []struct {
		name    string
		head    string   // the bytes that came with the head
		then    []string // what the connection brings
		silent  bool
		pieces  []string // of the stream
		err     error    // at its end
		length  int64
		closing bool

		want []string // substrings of what was sent, in order
		not  string   // a substring that must be absent
		end  End
		rest string
	}{
		{name: "no body", head: "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET", want: []string{"200 OK", "Content-Length: 4", "\r\n\r\nroot"}, not: "Connection", end: Keep, rest: "GET"},
		{name: "announced", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc", then: []string{"de", "fghi"}, want: []string{"\r\n\r\nabcdefghi"}, end: Keep},
		{name: "pipelined behind", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /", want: []string{"\r\n\r\nabc"}, end: Keep, rest: "GET /"},
		{name: "chunked", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", then: []string{"c\r", "\n2;x\r\nde\r\n0\r\nT: v\r\n\r\nGET"}, want: []string{"\r\n\r\nabcde"}, end: Keep, rest: "GET"},
		{name: "chunked, dropped", head: "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET", want: []string{"\r\n\r\nroot"}, end: Keep, rest: "GET"},
		{name: "chunked, too long to drop", head: "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", then: []string{"11800\r\n", long, "\r\n0\r\n\r\n"}, want: []string{"413 ", "Connection: close"}, end: Linger},
		{name: "over the limit", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", silent: true, want: []string{"413 "}, end: Linger},
		{name: "malformed", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", want: []string{"400 ", "Connection: close"}, end: Linger},
		{name: "cut short", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc", want: []string{"400 ", "Connection: close"}, end: Linger},
		{name: "late", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc", silent: true, want: []string{"408 ", "Connection: close"}, end: Linger},
		{name: "buffered", head: "POST /buffer HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\na", then: []string{"bc"}, want: []string{"\r\n\r\nabc"}, end: Keep},
		{name: "expecting", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", then: []string{"abc"}, want: []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", "abc"}, end: Keep},
		{name: "expecting, body there already", head: "POST /mirror HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", want: []string{"HTTP/1.1 200 OK"}, not: "100 Continue", end: Keep},
		{name: "expecting, not read", head: "POST /lazy HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", silent: true, want: []string{"HTTP/1.1 200 OK", "Connection: close"}, not: "100 Continue", end: Linger},
		{name: "short and not read", head: "POST /lazy HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabGET", want: []string{"HTTP/1.1 200 OK"}, end: Keep, rest: "ET"},
		{name: "long and not read", head: "POST /lazy HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\nab", want: []string{"HTTP/1.1 200 OK", "Connection: close"}, end: Linger},
		{name: "asked to close", head: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", want: []string{"Connection: close"}, end: Closed},
		{name: "version 1.0", head: "GET / HTTP/1.0\r\n\r\n", want: []string{"Connection: close"}, end: Closed},
		{name: "version 1.0 kept", head: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", want: []string{"Connection: keep-alive", "Content-Length: 4"}, end: Keep},
		{name: "draining", head: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", closing: true, want: []string{"Connection: close"}, end: Linger},
		{name: "panic", head: "GET /panic HTTP/1.1\r\nHost: h\r\n\r\n", want: []string{"500 ", "Connection: close"}, end: Linger},

		{name: "stream", head: "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc", "de"}, err: io.EOF, length: -1, want: []string{"Transfer-Encoding: chunked", "\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"}, end: Keep},
		{name: "stream of known length", head: "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc", "de"}, err: io.EOF, length: 5, want: []string{"Content-Length: 5", "\r\n\r\nabcde"}, end: Keep},
		{name: "stream longer than announced", head: "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc", "de"}, err: io.EOF, length: 4, want: []string{"Content-Length: 4", "\r\n\r\nabcd"}, not: "abcde", end: Keep},
		{name: "stream shorter than announced", head: "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc"}, err: io.EOF, length: 4, want: []string{"Content-Length: 4", "\r\n\r\nabc"}, end: Closed},
		{name: "stream broken", head: "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc"}, err: io.ErrUnexpectedEOF, length: -1, want: []string{"3\r\nabc\r\n"}, not: "0\r\n\r\n", end: Closed},
		{name: "stream to 1.0", head: "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", pieces: []string{"abc"}, err: io.EOF, length: -1, want: []string{"Connection: close", "\r\n\r\nabc"}, not: "chunked", end: Linger},
		{name: "stream to 1.0 broken", head: "GET /stream HTTP/1.0\r\n\r\n", pieces: []string{"abc"}, err: io.ErrUnexpectedEOF, length: -1, want: []string{"\r\n\r\nabc"}, end: Abort},
		{name: "stream, head only", head: "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n", pieces: []string{"abc"}, err: io.EOF, length: 3, want: []string{"Content-Length: 3"}, not: "abc", end: Keep},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := &source{pieces: c.pieces, err: c.err}
			s := NewServer(config(t, stream, c.length), new(weighstone.Slot))
			conn := &talk{in: c.then, silent: c.silent}
			rest, end := s.Serve(conn, []byte(c.head), &Peer{}, nil, func() bool { return c.closing })
			sent := conn.out.String()
			at := 0
			for _, want := range c.want {
				i := strings.Index(sent[at:], want)
				if i < 0 {
					t.Fatalf("sent %q, want %q", sent, want)
				}
				at += i + len(want)
			}
			if c.not != "" && strings.Contains(sent, c.not) {
				t.Errorf("sent %q, not wanting %q", sent, c.not)
			}
			if end != c.end || string(rest) != c.rest {
				t.Errorf("end %d with %q left, want %d with %q", end, rest, c.end, c.rest)
			}
			if c.err != nil && stream.closed != 1 {
				t.Errorf("stream closed %d times", stream.closed)
			}
		})
	}
}

func TestServeCountsAndEndsOnBrokenConnection(t *testing.T) {
	slot := new(weighstone.Slot)
	s := NewServer(config(t, nil, 0), slot)
	_, end := s.Serve(&talk{broken: true}, []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), &Peer{}, nil, func() bool { return false })
	if end != Closed {
		t.Errorf("end %d, want closed", end)
	}
	if slot.Requests.Load() != 1 || slot.Responses[2].Load() != 1 || slot.BytesSent.Load() != 0 {
		t.Errorf("counted %+v", weighstone.Sum([]*weighstone.Slot{slot}))
	}
}
