package cgi_test

import (
	"net/netip"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
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

// list collects variables as NAME=value.
type list []string

func (l *list) Field(name, value []byte) { *l = append(*l, string(name)+"="+string(value)) }

func request() *weighstone.Exchange {
	return &weighstone.Exchange{In: weighstone.Request{
		Method: []byte("GET"), Target: []byte("/cgi-bin/echo"), Minor: 1, Host: []byte("www.example:8080"), Fields: lines{},
		Local: netip.MustParseAddrPort("192.0.2.1:80"), Remote: netip.MustParseAddrPort("198.51.100.7:40000"),
	}}
}

func TestVariablesInOrder(t *testing.T) {
	x := request()
	x.In.Method = []byte("POST")
	x.In.Target = []byte("/cgi-bin/echo/a%20b?q=%31&r")
	x.In.Query = []byte("q=%31&r")
	x.In.Length = 12
	x.In.Fields = lines{"Host", "www.example:8080", "content-type", "text/x", "Content-Length", "12", "User-Agent", "u/1", "Accept", "*/*"}
	var got list
	cgi.Variables(x, cgi.Script{
		Interface: cgi.Interface, Name: "/cgi-bin/echo", File: "/srv/cgi/echo", Info: "/a b", Root: "/srv/www",
		AuthType: "Basic", User: "eve",
	}, &got)
	want := list{
		"CONTENT_LENGTH=12", "CONTENT_TYPE=text/x",
		"GATEWAY_INTERFACE=CGI/1.1", "SCRIPT_NAME=/cgi-bin/echo", "SCRIPT_FILENAME=/srv/cgi/echo", "DOCUMENT_ROOT=/srv/www",
		"PATH_INFO=/a b", "PATH_TRANSLATED=/srv/www/a b", "AUTH_TYPE=Basic", "REMOTE_USER=eve", "REDIRECT_STATUS=200",
		"REQUEST_METHOD=POST", "QUERY_STRING=q=%31&r", "REQUEST_URI=/cgi-bin/echo/a%20b?q=%31&r", "REQUEST_SCHEME=http",
		"SERVER_SOFTWARE=" + weighstone.Software, "SERVER_PROTOCOL=HTTP/1.1",
		"SERVER_NAME=www.example", "SERVER_PORT=80", "SERVER_ADDR=192.0.2.1",
		"REMOTE_ADDR=198.51.100.7", "REMOTE_HOST=198.51.100.7", "REMOTE_PORT=40000",
		"HTTP_ACCEPT=*/*", "HTTP_HOST=www.example:8080", "HTTP_USER_AGENT=u/1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestVariablesOfRequest(t *testing.T) {
	const absent = "\x00"
	for _, c := range []struct {
		about  string
		change func(*weighstone.Exchange)
		script cgi.Script
		want   map[string]string
	}{
		{"plain", nil, cgi.Script{Name: "/s"}, map[string]string{
			"CONTENT_LENGTH": absent, "CONTENT_TYPE": absent, "QUERY_STRING": "", "PATH_INFO": "", "PATH_TRANSLATED": absent,
			"AUTH_TYPE": absent, "REMOTE_USER": absent, "GATEWAY_INTERFACE": absent, "HTTPS": absent,
		}},
		{"HTTP/1.0", func(x *weighstone.Exchange) { x.In.Minor = 0 }, cgi.Script{}, map[string]string{"SERVER_PROTOCOL": "HTTP/1.0"}},
		{"port of the socket, not of Host", func(x *weighstone.Exchange) { x.In.Host = []byte("h:99") }, cgi.Script{},
			map[string]string{"SERVER_NAME": "h", "SERVER_PORT": "80", "HTTP_HOST": "h:99"}},
		{"no Host", func(x *weighstone.Exchange) { x.In.Host = nil }, cgi.Script{},
			map[string]string{"SERVER_NAME": "192.0.2.1", "HTTP_HOST": absent}},
		{"no Host, IPv6", func(x *weighstone.Exchange) {
			x.In.Host = nil
			x.In.Local = netip.MustParseAddrPort("[2001:db8::1%eth0]:8080")
			x.In.Remote = netip.MustParseAddrPort("[fe80::2%eth0]:9")
		}, cgi.Script{}, map[string]string{"SERVER_NAME": "[2001:db8::1]", "SERVER_ADDR": "2001:db8::1", "REMOTE_ADDR": "fe80::2", "SERVER_PORT": "8080"}},
		{"IPv6 Host", func(x *weighstone.Exchange) { x.In.Host = []byte("[::1]:81") }, cgi.Script{}, map[string]string{"SERVER_NAME": "[::1]"}},
		{"IPv6 Host without port", func(x *weighstone.Exchange) { x.In.Host = []byte("[::1]") }, cgi.Script{}, map[string]string{"SERVER_NAME": "[::1]"}},
		{"IPv4 mapped", func(x *weighstone.Exchange) { x.In.Remote = netip.MustParseAddrPort("[::ffff:127.0.0.1]:9") }, cgi.Script{},
			map[string]string{"REMOTE_ADDR": "127.0.0.1"}},
		{"absolute target", func(x *weighstone.Exchange) { x.In.Target = []byte("http://h/p?q") }, cgi.Script{}, map[string]string{"REQUEST_URI": "/p?q"}},
		{"absolute target without path", func(x *weighstone.Exchange) { x.In.Target = []byte("http://h") }, cgi.Script{}, map[string]string{"REQUEST_URI": "/"}},
		{"spooled length", func(x *weighstone.Exchange) { x.In.Length = -1 }, cgi.Script{Length: 5}, map[string]string{"CONTENT_LENGTH": "5"}},
		{"spooled and empty", func(x *weighstone.Exchange) { x.In.Length = -1 }, cgi.Script{}, map[string]string{"CONTENT_LENGTH": absent}},
		{"no path behind the name", nil, cgi.Script{Root: "/srv"}, map[string]string{"DOCUMENT_ROOT": "/srv", "PATH_TRANSLATED": absent}},
		{"repeated fields", func(x *weighstone.Exchange) {
			x.In.Fields = lines{"Cookie", "a=1", "X-A", "1", "cookie", "b=2", "x-a", "2", "X-A", "3"}
		}, cgi.Script{}, map[string]string{"HTTP_COOKIE": "a=1; b=2", "HTTP_X_A": "1, 2, 3"}},
		{"underscore", func(x *weighstone.Exchange) { x.In.Fields = lines{"X_Fwd", "evil", "X-Fwd", "good"} }, cgi.Script{},
			map[string]string{"HTTP_X_FWD": "good"}},
		{"not passed on", func(x *weighstone.Exchange) {
			x.In.Fields = lines{"Proxy", "evil", "pRoXy", "evil", "Authorization", "Basic x", "Proxy-Authorization", "y", "Connection", "close",
				"Keep-Alive", "1", "TE", "trailers", "Transfer-Encoding", "chunked", "Upgrade", "h2c", "Trailer", "x", "Content-Length", "0",
				"A=B", "c", "A.B", "c", "", "c"}
		}, cgi.Script{}, map[string]string{
			"HTTP_PROXY": absent, "HTTP_AUTHORIZATION": absent, "HTTP_PROXY_AUTHORIZATION": absent, "HTTP_CONNECTION": absent,
			"HTTP_KEEP_ALIVE": absent, "HTTP_TE": absent, "HTTP_TRANSFER_ENCODING": absent, "HTTP_UPGRADE": absent, "HTTP_TRAILER": absent,
			"HTTP_CONTENT_LENGTH": absent, "HTTP_A_B": absent, "HTTP_A=B": absent, "HTTP_": absent,
		}},
		{"coded body", func(x *weighstone.Exchange) { x.In.Fields = lines{"Content-Encoding", "gzip"} }, cgi.Script{},
			map[string]string{"HTTP_CONTENT_ENCODING": "gzip"}},
	} {
		x := request()
		if c.change != nil {
			c.change(x)
		}
		var l list
		cgi.Variables(x, c.script, &l)
		got := map[string]string{}
		for _, v := range l {
			name, value, _ := strings.Cut(v, "=")
			if _, twice := got[name]; twice {
				t.Errorf("%s: %s is there twice", c.about, name)
			}
			got[name] = value
		}
		for name, want := range c.want {
			value, there := got[name]
			if want == absent && there || want != absent && (!there || value != want) {
				t.Errorf("%s: %s is %q (there: %v), want %q", c.about, name, value, there, want)
			}
		}
	}
}
