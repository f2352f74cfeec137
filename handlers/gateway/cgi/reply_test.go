package cgi

import (
	"strings"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/gateway"
)

func TestReplies(t *testing.T) {
	h := newHost(t, Options{})
	for _, c := range []struct {
		name, script string
		status       int
		kind, body   string
		field, value string
	}{
		{"plain", `printf 'Content-type: text/html\r\n\r\nhello'`, 200, "text/html", "hello", "", ""},
		{"newlines", `printf 'Content-Type: text/html\nX-A: b\n\nhello\n'`, 200, "text/html", "hello\n", "X-A", "b"},
		{"nothing-more", `printf 'Content-Type: text/html\n\n'`, 200, "text/html", "", "", ""},
		{"status", `printf 'status: 404\nContent-Type: a/b\n\nno'`, 404, "a/b", "no", "Status", ""},
		{"status-only", `printf 'Status: 403 No\n\n'`, 403, "", "", "", ""},
		{"no-content", `printf 'Status: 204\n\nstray'`, 204, "", "", "", ""},
		{"exit-code", `printf 'Content-Type: a/b\n\nno'; exit 3`, 200, "a/b", "no", "", ""},
		{"long-line", `printf 'Content-Type: a/b\nX-Long: %05000d\n\nok' 7`, 200, "a/b", "ok", "X-Long", strings.Repeat("0", 4999) + "7"},
		{"chunked", `printf 'Content-Type: a/b\nTransfer-Encoding: chunked\nConnection: keep-alive\n\nok'`, 200, "a/b", "ok", "Transfer-Encoding", ""},

		{"client-redirect", `printf 'Location: http://h/x\n\n'`, 302, "", "", "Location", "http://h/x"},
		{"redirect-document", `printf 'Status: 301\nLocation: http://h/x\nContent-Type: a/b\n\nthere'`, 301, "a/b", "there", "Location", "http://h/x"},
		{"local-redirect", `printf 'Location: /page?x\n\n'`, 200, "text/plain", "a page\n", "", ""},
		{"redirect-nowhere", `printf 'Location: /nowhere\n\n'`, 404, "text/plain; charset=utf-8", statusText(404), "", ""},
		{"redirect-host", `printf 'Location: //evil/x\n\n'`, 500, "text/plain; charset=utf-8", statusText(500), "Location", ""},

		{"no-output", `exit 3`, 500, "text/plain; charset=utf-8", statusText(500), "", ""},
		{"no-header", `echo hello world`, 500, "text/plain; charset=utf-8", statusText(500), "", ""},
		{"no-blank-line", `printf 'Content-Type: a/b\n'`, 500, "text/plain; charset=utf-8", statusText(500), "", ""},
		{"no-type", `printf 'X-A: b\n\nhello'`, 500, "text/plain; charset=utf-8", statusText(500), "X-A", ""},
		{"nph", `printf 'HTTP/1.1 404 Not Found\r\nContent-Type: a/b\r\n\r\n'`, 500, "text/plain; charset=utf-8", statusText(500), "", ""},
		{"status-abc", `printf 'Status: abc\n\n'`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
		{"status-4", `printf 'Status: 4\n\n'`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
		{"status-042", `printf 'Status: 042\n\n'`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
		{"status-100", `printf 'Status: 100\n\n'`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
		{"endless-header", `while :; do echo 'X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' || exit; done`, 500, "text/plain; charset=utf-8", statusText(500), "", ""},

		{"longer", `printf 'Content-Type: a/b\nContent-Length: 3\n\nhello world!'`, 200, "a/b", "hel", "", ""},
		{"shorter", `printf 'Content-Type: a/b\nContent-Length: 300\n\nhello world!'`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
		{"killed", `printf 'Content-Type: a/b\n\npartial'; kill -9 $$`, 502, "text/plain; charset=utf-8", statusText(502), "", ""},
	} {
		h.script(c.name, c.script)
		a := h.get(c.name)
		if a.status != c.status || a.kind != c.kind || a.body != c.body || a.broken != nil || a.stream {
			t.Errorf("%s: %d %q %q, streamed %v, broken %v; want %d %q %q", c.name, a.status, a.kind, a.body, a.stream, a.broken, c.status, c.kind, c.body)
		}
		if c.field != "" && a.field(c.field) != c.value {
			t.Errorf("%s: %s is %q, want %q", c.name, c.field, a.field(c.field), c.value)
		}
	}
}

func TestHead(t *testing.T) {
	h := newHost(t, Options{})
	h.script("page", `printf 'Content-Type: a/b\n\nhello'`)
	h.script("head", `printf 'Content-Type: a/b\n\n'`)
	h.script("length", `printf 'Content-Type: a/b\nContent-Length: 300\n\n'`)
	h.script("endless", `printf 'Content-Type: a/b\n\n'; while echo y; do :; done`)
	h.script("local", `printf 'Location: /cgi-bin/page\n\n'`)
	for name, length := range map[string]int64{"page": 5, "head": -1, "length": 300, "local": 5} {
		a := h.do(call{method: "HEAD", target: "/cgi-bin/" + name})
		if a.status != 200 || a.kind != "a/b" || a.length != length {
			t.Errorf("%s: %d %q, length %d, want %d", name, a.status, a.kind, a.length, length)
		}
	}
	short := newHost(t, Options{Timeout: 1e9, Dirs: []string{h.dir}})
	if a := short.do(call{method: "HEAD", target: "/cgi-bin/endless"}); a.status != 200 || a.length != -1 {
		t.Errorf("endless: %d, length %d", a.status, a.length)
	}
}

func TestLocalRedirectKeepsFieldsDropsBody(t *testing.T) {
	h := newHost(t, Options{})
	h.script("from", `cat >/dev/null; printf 'Location: /cgi-bin/to/info?q=1\n\n'`)
	h.script("to", `printf 'Content-Type: text/plain\n\n'; echo "$REQUEST_METHOD $HTTP_COOKIE $CONTENT_TYPE $CONTENT_LENGTH $PATH_INFO $QUERY_STRING $HTTP_HOST"; cat`)
	x := h.begin(call{method: "POST", target: "/cgi-bin/from", body: strings.NewReader("body"), length: 4,
		fields: lines{"Cookie", "a=1", "Content-Type", "x/y", "Content-Length", "4"}})
	if got, want := string(x.Scratch), "GET a=1   /info q=1 www.example:8080\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if string(x.In.Method) != "POST" || string(x.In.Target) != "/cgi-bin/from" || string(x.In.Path) != "/cgi-bin/from" || x.In.Length != 4 {
		t.Errorf("the request was not put back: %s %s %s", x.In.Method, x.In.Target, x.In.Path)
	}
}

func TestLocalRedirectLoop(t *testing.T) {
	h := newHost(t, Options{MaxProcesses: 1})
	h.script("loop", `echo x >> count; printf 'Location: /cgi-bin/loop\n\n'`)
	if a := h.get("loop"); a.status != 500 {
		t.Errorf("status %d, want 500", a.status)
	}
	if n := len(read(t, h.dir+"/count")) / 2; n != gateway.MaxRedirects+1 {
		t.Errorf("ran %d times, want %d", n, gateway.MaxRedirects+1)
	}
}

func TestRedirectsWithoutSite(t *testing.T) {
	h := newHost(t, Options{})
	h.host.Site = nil
	h.script("local", `printf 'Location: /page\n\n'`)
	if a := h.get("local"); a.status != 500 {
		t.Errorf("status %d, want 500", a.status)
	}
}

var _ weighstone.Handler = (*Handler)(nil)
