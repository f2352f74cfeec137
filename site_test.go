package weighstone

import (
	"net/http"
	"strings"
	"testing"
)

// lines are the header lines of a test request.
type lines map[string]string

func (l lines) Get(name string) []byte {
	if v, ok := l[name]; ok {
		return []byte(v)
	}
	return nil
}

func (l lines) Each(sink FieldSink) {
	for name, value := range l {
		sink.Field([]byte(name), []byte(value))
	}
}

func testSite(t *testing.T) *Site {
	t.Helper()
	nop := HandlerFunc(func(*Exchange) {})
	site, err := NewSite(1000,
		Route{Pattern: "/", Methods: GET | HEAD, Handler: nop},
		Route{Pattern: "/api/echo", Methods: GET | HEAD | POST, Body: BodyStreamed, Handler: nop},
		Route{Pattern: "/api/echo/", Methods: GET | HEAD | POST, Body: BodyStreamed, Handler: nop},
		Route{Pattern: "/cgi-bin/", Methods: GET | HEAD | POST, Body: BodyStreamed, Waits: true, Handler: nop},
	)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func TestFindDecodesTarget(t *testing.T) {
	site := testSite(t)
	for _, c := range []struct{ target, pattern, path, query string }{
		{"/", "/", "/", ""},
		{"/100.html", "/", "/100.html", ""},
		{"/100.html?a=/../%zz", "/", "/100.html", "a=/../%zz"},
		{"/100.html?", "/", "/100.html", ""},
		{"/%31%30%30.html", "/", "/100.html", ""},
		{"/a/./b/../c", "/", "/a/c", ""},
		{"/a//b", "/", "/a/b", ""},
		{"//a", "/", "/a", ""},
		{"/a/b/..", "/", "/a/", ""},
		{"/a/.", "/", "/a/", ""},
		{"/.a/..b/c..", "/", "/.a/..b/c..", ""},
		{"/%2e%2E/x", "", "", ""},
		{"/a/%2e%2E/x", "/", "/x", ""},
		{"/..", "", "", ""},
		{"/a/../..", "", "", ""},
		{"/a%2fb", "", "", ""},
		{"/a%5cb", "/", `/a\b`, ""},
		{"/a%00b", "", "", ""},
		{"/a%0d%0ab", "", "", ""},
		{"/a%7f", "", "", ""},
		{"/%252e%252e/", "/", "/%2e%2e/", ""},
		{"/a%", "", "", ""},
		{"/a%4", "", "", ""},
		{"/a%4g", "", "", ""},
		{"/%", "", "", ""},
		{"/a#b", "", "", ""},
		{"/a\x80", "", "", ""},
		{"/a\x01", "", "", ""},
		{"/a?b\x01", "", "", ""},
		{"/a b", "", "", ""},
		{"/%c3%a9", "/", "/\xc3\xa9", ""},
		{"/a+b", "/", "/a+b", ""},
		{"", "", "", ""},
		{"a", "", "", ""},
		{"*", "", "", ""},
		{"example.com:80", "", "", ""},
		{"http://example.com/api/echo?x", "/api/echo", "/api/echo", "x"},
		{"HTTPS://example.com", "/", "/", ""},
		{"http://example.com?q", "/", "/", "q"},
		{"http://u@example.com/", "", "", ""},
		{"http:///x", "", "", ""},
		{"http://example.com/../x", "", "", ""},
		{"ftp://example.com/", "", "", ""},
		{"/api/echo", "/api/echo", "/api/echo", ""},
		{"/api/echo/", "/api/echo/", "/api/echo/", ""},
		{"/api/echo/a", "/api/echo/", "/api/echo/a", ""},
		{"/api/echoes", "/", "/api/echoes", ""},
		{"/api/%65cho", "/api/echo", "/api/echo", ""},
		{"/cgi-bin/../100.html", "/", "/100.html", ""},
		{"/x/../cgi-bin/hello", "/cgi-bin/", "/cgi-bin/hello", ""},
	} {
		x := &Exchange{In: Request{Method: []byte("GET"), Target: []byte(c.target), Minor: 1, Fields: lines{}}}
		r := site.Find(x)
		switch {
		case c.pattern == "" && r != nil:
			t.Errorf("%q: path %q, want a refusal", c.target, x.In.Path)
		case c.pattern == "" && x.Out.Code() != http.StatusBadRequest:
			t.Errorf("%q: status %d, want 400", c.target, x.Out.Code())
		case c.pattern != "" && r == nil:
			t.Errorf("%q: status %d, want route %s", c.target, x.Out.Code(), c.pattern)
		case r != nil && (r.Pattern != c.pattern || string(x.In.Path) != c.path || string(x.In.Query) != c.query):
			t.Errorf("%q: route %s path %q query %q, want %s %q %q", c.target, r.Pattern, x.In.Path, x.In.Query, c.pattern, c.path, c.query)
		}
	}
}

func TestFindHostOfAbsoluteForm(t *testing.T) {
	x := &Exchange{In: Request{Method: []byte("GET"), Target: []byte("http://a.example:81/x"), Host: []byte("b.example"), Minor: 1, Fields: lines{}}}
	if testSite(t).Find(x); string(x.In.Host) != "a.example:81" {
		t.Errorf("host %q, want that of the target", x.In.Host)
	}
}

func TestFindSettlesWithoutHandler(t *testing.T) {
	site := testSite(t)
	for _, c := range []struct {
		method, target string
		length         int64
		fields         lines
		status         int
		allow          string
		close          bool
	}{
		{"GET", "/x", 0, nil, 200, "", false},
		{"get", "/x", 0, nil, 501, "", false},
		{"BREW", "/x", 0, nil, 501, "", false},
		{"POST", "/x", 10, nil, 405, "GET, HEAD, OPTIONS", false},
		{"POST", "/x", 1 << 20, nil, 405, "GET, HEAD, OPTIONS", true},
		{"POST", "/x", -1, nil, 405, "GET, HEAD, OPTIONS", true},
		{"POST", "/x", 10, lines{"Expect": "100-continue"}, 405, "GET, HEAD, OPTIONS", true},
		{"OPTIONS", "/x", 0, nil, 204, "GET, HEAD, OPTIONS", false},
		{"OPTIONS", "*", 0, nil, 204, "GET, HEAD, POST, OPTIONS", false},
		{"CONNECT", "example.com:443", 0, nil, 501, "", false},
		{"GET", "/x", 10, nil, 200, "", false},
		{"GET", "/x", 65537, nil, 413, "", true},
		{"POST", "/api/echo", 1000, nil, 200, "", false},
		{"POST", "/api/echo", -1, nil, 200, "", false},
		{"POST", "/api/echo", 1001, nil, 413, "", false},
		{"POST", "/api/echo", 1 << 40, nil, 413, "", true},
		{"POST", "/api/echo", 9, lines{"Expect": "100-Continue"}, 200, "", false},
		{"POST", "/api/echo", 9, lines{"Expect": "tea"}, 417, "", true},
	} {
		if c.fields == nil {
			c.fields = lines{}
		}
		x := &Exchange{In: Request{Method: []byte(c.method), Target: []byte(c.target), Minor: 1, Length: c.length, Fields: c.fields}}
		r := site.Find(x)
		var allow string
		for _, f := range x.Out.Extra {
			if f.Name == "Allow" {
				allow = f.Value
			}
		}
		if c.target == "/x" && c.length == 10 && c.method == "GET" && r == nil {
			t.Errorf("a short body on a route that reads none was not dropped")
		}
		if (r != nil) != (c.status == 200) || x.Out.Code() != c.status || allow != c.allow || x.Out.Close != c.close {
			t.Errorf("%s %s with %d bytes: route %v, status %d, allow %q, close %v; want %d, %q, %v",
				c.method, c.target, c.length, r != nil, x.Out.Code(), allow, x.Out.Close, c.status, c.allow, c.close)
		}
	}
}

// TestFindElsewhere: what the other program would refuse is for it to refuse.
func TestFindElsewhere(t *testing.T) {
	site, err := NewSite(1000, Route{Pattern: "/db/", Elsewhere: true, Waits: true, Handler: HandlerFunc(func(*Exchange) {})})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
		var x Exchange
		x.In.Method, x.In.Target, x.In.Minor = []byte(method), []byte("/%64b/x"), 1
		x.In.Length, x.In.Fields = 5000, lines{"Expect": "a miracle"}
		if r := site.Find(&x); r == nil || !r.Elsewhere {
			t.Errorf("%s is answered %d here", method, x.Out.Status)
		}
	}
}

func TestNewSiteRefuses(t *testing.T) {
	nop := HandlerFunc(func(*Exchange) {})
	for want, routes := range map[string][]Route{
		"slash":      {{Pattern: "x", Handler: nop}},
		"twice":      {{Pattern: "/x", Handler: nop}, {Pattern: "/x", Handler: nop}},
		"no handler": {{Pattern: "/x"}},
	} {
		if _, err := NewSite(0, routes...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"/", "/a/../b", "/%2e%2e/", "//..", "http://h/..", "/a?b#c", "/%", "*"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, target []byte) {
		x := &Exchange{In: Request{Target: target}}
		if !x.decodeTarget() {
			return
		}
		p := string(x.In.Path)
		if !strings.HasPrefix(p, "/") || strings.Contains(p, "//") || strings.Contains(p+"/", "/../") || strings.Contains(p+"/", "/./") || strings.ContainsAny(p, "\x00\r\n") {
			t.Errorf("target %q became path %q", target, p)
		}
	})
}
