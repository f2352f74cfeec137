package api

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"net/textproto"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
)

// lines are the header lines of a test request, name and value in turn.
type lines []string

func (l lines) Get(name string) []byte {
	for i := 0; i < len(l); i += 2 {
		if textproto.CanonicalMIMEHeaderKey(l[i]) == name {
			return []byte(l[i+1])
		}
	}
	return nil
}

func (l lines) Each(sink weighstone.FieldSink) {
	for i := 0; i < len(l); i += 2 {
		sink.Field([]byte(l[i]), []byte(l[i+1]))
	}
}

type call struct {
	method, target string
	fields         lines
	body           io.Reader
	length         int64
}

type answer struct {
	status int
	kind   string
	length int64
	body   string
	close  bool
}

func site(t *testing.T) *weighstone.Site {
	t.Helper()
	s, err := weighstone.NewSite(0, Routes()...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do answers c and reads the body as an engine would.
func do(t *testing.T, s *weighstone.Site, c call) answer {
	t.Helper()
	x := &weighstone.Exchange{In: weighstone.Request{
		Method: []byte(c.method), Target: []byte(c.target), Host: []byte("www.example"), Minor: 1, Fields: c.fields, Body: c.body, Length: c.length,
		Local: netip.MustParseAddrPort("127.0.0.1:80"), Remote: netip.MustParseAddrPort("127.0.0.1:4000"),
	}}
	if r := s.Find(x); r != nil {
		r.Handler.Serve(x)
	}
	b := &x.Out.Body
	a := answer{status: x.Out.Code(), kind: x.Out.Type, length: b.Length, close: x.Out.Close}
	var got []byte
	var err error
	switch b.Kind {
	case weighstone.BodyPage:
		got, a.kind = b.Page.Bytes, b.Page.Type
	case weighstone.BodyScratch:
		got = x.Scratch
	case weighstone.BodyFile:
		got, err = io.ReadAll(io.NewSectionReader(b.File, b.Offset, b.Length))
	case weighstone.BodyStream:
		got, err = io.ReadAll(b.Stream)
	}
	if cerr := b.Close(); err != nil || cerr != nil || int64(len(got)) != b.Length {
		t.Errorf("%s %s: %d bytes of %d, errors %v, %v", c.method, c.target, len(got), b.Length, err, cerr)
	}
	a.body = string(got)
	return a
}

func TestHello(t *testing.T) {
	if a := do(t, site(t), call{method: "GET", target: "/api/hello"}); len(a.body) != 77 || a.body != Hello || a.kind != "text/html" {
		t.Errorf("%+v, want 77 bytes of text/html", a)
	}
}

func TestSend(t *testing.T) {
	s := site(t)
	const usual, most = 10240, 16 << 20
	for query, want := range map[string]int{
		"": usual, "?": usual, "?a=1": usual, "?xsize=1": usual, "?size=10240": usual,
		"?size=0": 0, "?size=1": 1, "?size=26": 26, "?size=27": 27, "?a&size=5&size=6": 5, "?size=007": 7,
		"?size=65536": 65536, "?size=65537": 65537, "?size=16777216": most,
		"?size=": -1, "?size=-1": -1, "?size=+1": -1, "?size=1.5": -1, "?size=x": -1, "?size=0x10": -1, "?size=%31": -1,
		"?size=16777217": -1, "?size=99999999999999999999999999": -1, "?size=&size=1": -1,
	} {
		a := do(t, s, call{method: "GET", target: "/api/send" + query})
		if want < 0 {
			if a.status != 400 || a.body != "400 Bad Request\n" {
				t.Errorf("%s: %d %.40q, want 400", query, a.status, a.body)
			}
			continue
		}
		if a.status != 200 || a.kind != "text/plain" || a.body != string(pattern(want)) {
			t.Errorf("%s: %d %q, %d bytes, want %d", query, a.status, a.kind, len(a.body), want)
		}
	}
	if !strings.HasPrefix(string(pattern(60)), "ABCDEFGHIJKLMNOPQRSTUVWXYZABC") {
		t.Error("the pattern is another")
	}
}

type engineError struct{ error }

func (engineError) Status() int { return 413 }

func TestMirror(t *testing.T) {
	s := site(t)
	if a := do(t, s, call{method: "GET", target: "/api/mirror"}); a != (answer{status: 200, kind: "application/octet-stream"}) {
		t.Errorf("GET: %+v", a)
	}
	for _, n := range []int{1, 1000, 1 << 20, 1<<20 + 1, 3 << 20} {
		body := strings.Repeat("0123\r\n\x00\xff", n/8+1)[:n]
		for _, length := range []int64{int64(n), -1} {
			a := do(t, s, call{method: "POST", target: "/api/mirror", fields: lines{"Content-Type", "x/y; z"}, body: strings.NewReader(body), length: length})
			if a.status != 200 || a.kind != "x/y; z" || a.body != body || a.close {
				t.Errorf("%d bytes, length %d: %d %q, %d bytes, close %v", n, length, a.status, a.kind, len(a.body), a.close)
			}
		}
	}
}

func TestBrokenBody(t *testing.T) {
	s := site(t)
	for _, target := range []string{"/api/mirror", "/api/echo"} {
		for _, c := range []struct {
			body   io.Reader
			length int64
			status int
		}{
			{strings.NewReader("short"), 10, 400},
			{iotest.ErrReader(errors.New("bad chunk")), -1, 400},
			{iotest.ErrReader(engineError{errors.New("too large")}), -1, 413},
			{io.MultiReader(bytes.NewReader(make([]byte, 2<<20)), iotest.ErrReader(engineError{errors.New("too large")})), -1, 413},
			{iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("slow"))), 4, 400},
		} {
			if a := do(t, s, call{method: "POST", target: target, body: c.body, length: c.length}); a.status != c.status || !a.close {
				t.Errorf("%s, length %d: %d, close %v; want %d", target, c.length, a.status, a.close, c.status)
			}
		}
	}
}

func TestEcho(t *testing.T) {
	s := site(t)
	a := do(t, s, call{method: "POST", target: "/api/echo/a%20b?q", fields: lines{"X-A", "1", "Content-Type", "x/y", "x-a", "2"}, body: strings.NewReader("the\nbody"), length: 8})
	want := strings.Join([]string{
		"CONTENT_LENGTH=8", "CONTENT_TYPE=x/y", "HTTP_HOST=www.example", "HTTP_X_A=1, 2", "PATH_INFO=/a b", "QUERY_STRING=q", "REDIRECT_STATUS=200",
		"REMOTE_ADDR=127.0.0.1", "REMOTE_HOST=127.0.0.1", "REMOTE_PORT=4000", "REQUEST_METHOD=POST", "REQUEST_SCHEME=http",
		"REQUEST_URI=/api/echo/a%20b?q", "SCRIPT_NAME=/api/echo", "SERVER_ADDR=127.0.0.1", "SERVER_NAME=www.example", "SERVER_PORT=80",
		"SERVER_PROTOCOL=HTTP/1.1", "SERVER_SOFTWARE=" + weighstone.Software, "", "the\nbody",
	}, "\n")
	if d := cmp.Diff(want, a.body); d != "" || a.kind != "text/plain" {
		t.Errorf("%s %s", a.kind, d)
	}
	if a := do(t, s, call{method: "GET", target: "/api/echo", fields: lines{}}); !strings.HasSuffix(a.body, weighstone.Software+"\n") {
		t.Errorf("GET ends in %q", a.body[len(a.body)-20:])
	}
	if a := do(t, s, call{method: "POST", target: "/api/echo", fields: lines{}}); !strings.HasSuffix(a.body, weighstone.Software+"\n\n") {
		t.Errorf("an empty POST ends in %q", a.body[len(a.body)-20:])
	}
	large := strings.Repeat("x", 3<<20)
	a = do(t, s, call{method: "POST", target: "/api/echo", fields: lines{}, body: strings.NewReader(large), length: -1})
	if head, rest, _ := strings.Cut(a.body, "\n\n"); rest != large || !strings.HasPrefix(head, "CONTENT_LENGTH=3145728\n") {
		t.Errorf("a large chunked POST: %.40q, %d bytes", head, len(rest))
	}
}

func TestWarmRepliesAllocateNothing(t *testing.T) {
	s := site(t)
	for _, target := range []string{"/api/hello", "/api/send", "/api/send?size=1000", "/api/send?size=65536"} {
		x := new(weighstone.Exchange)
		in := weighstone.Request{Method: []byte("GET"), Target: []byte(target), Minor: 1, Fields: lines(nil)}
		serve := func() {
			x.Reset()
			x.In = in
			s.Find(x).Handler.Serve(x)
		}
		serve()
		if n := testing.AllocsPerRun(100, serve); n > 0 {
			t.Errorf("%s: %v allocations, want none", target, n)
		}
	}
}
