package servertest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// urls are asked for on every engine. A target that net/url does not take for
// one is sent as it stands.
var urls = []string{
	"/", "/index.html", "/100.html", "/20k.html", "/200k.bin", "/4m.bin", "/empty.txt", "/sub/", "/sub", "/sub/index.html",
	"/sub/a%20b.txt", "/sub/a+b.txt", "/caf%c3%a9", "/caf%C3%A9", "/100%25.txt", "/100.html?query", "/100.html?", "/100.html?a=/../%zz",
	"/none", "/none/", "/100.html/", "/100.html/x", "/.hidden", "/%2ehidden", "/outside", "/sub/../100.html", "/sub/./a%20b.txt",
	"/./100.html", "//100.html", "///sub//index.html", "/../100.html", "/sub/../../100.html", "/%2e%2e/100.html", "/sub/%2e%2e/100.html",
	"/sub%2findex.html", "/sub%2Findex.html", "/sub%5cindex.html", `/sub\index.html`, "/%31%30%30.html", "/%2531%2530%2530.html",
	"/100.html%00", "/100.html%0a", "/100.html%7f", "/%zz", "/%", "/100.html%2", "/100.html;v=1", "/100.html%3fa", "/100.html%23a", "/100.HTML",
	"/api/hello", "/api/hello?x", "/api/hello/", "/api/send", "/api/send?size=0", "/api/send?size=1", "/api/send?size=100000",
	"/api/send?size=-1", "/api/send?size=x", "/api/send?size=999999999999", "/api/%68ello", "/api/../api/hello", "/api//hello", "/api/mirror", "/api/none", "/api",
	"/api/%65cho/..%2f", "/test/204", "/test/nothing", "/test/stream", "/test/measured",
}

// meaning are the fields in which all engines agree.
var meaning = []string{"Content-Type", "Content-Length", "Last-Modified", "Etag", "Accept-Ranges", "Content-Range", "Location", "Allow", "Server"}

// An answer is what of a reply matters.
type answer struct {
	status int
	fields string
	body   []byte
}

// ask sends one request through net/http's client, which follows no redirect
// here.
func ask(t *testing.T, client *http.Client, addr, method, target string, fields map[string]string) answer {
	t.Helper()
	u, err := url.Parse("http://" + addr + target)
	if err != nil || u.RequestURI() != target {
		u = &url.URL{Scheme: "http", Host: addr, Opaque: target}
	}
	r := &http.Request{Method: method, URL: u, Host: addr, Header: http.Header{}}
	if strings.HasPrefix(target, "//") {
		// net/url takes what follows for an authority, and a client would send
		// the absolute form.
		r.URL = &url.URL{Scheme: "http", Host: addr, Path: target}
	}
	for name, value := range fields {
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err != nil || time.Since(date).Abs() > time.Minute {
		t.Errorf("%s %s: Date %q: %v", method, target, res.Header.Get("Date"), err)
	}
	a := answer{status: res.StatusCode, body: body}
	for _, name := range meaning {
		a.fields += fmt.Sprintf("%s: %q\n", name, res.Header[name])
	}
	return a
}

// TestEnginesAgree: all engines answer every URL with the same status, bytes
// and fields of meaning.
func TestEnginesAgree(t *testing.T) {
	at := place{Kind: apiPlace, Root: newRoot(t)}
	methods := []string{"GET", "HEAD", "POST", "OPTIONS", "DELETE"}
	conditions := []map[string]string{
		{"Range": "bytes=1-5"}, {"Range": "bytes=-5"}, {"Range": "bytes=999999999-"}, {"Range": "bytes=0-1,3-4"},
		{"If-Modified-Since": lastModified}, {"If-None-Match": "*"}, {"If-Match": `"x"`},
	}
	var names []string
	answers := map[string][]answer{}
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s := start(t, e, at, weighstone.Options{})
		transport := &http.Transport{DisableCompression: true}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		var labels []string
		for _, target := range urls {
			for _, method := range methods {
				labels = append(labels, method+" "+target)
				answers[e.Name] = append(answers[e.Name], ask(t, client, s.Addr, method, target, nil))
			}
		}
		for _, target := range []string{"/100.html", "/200k.bin", "/api/hello", "/none", "/sub"} {
			for _, fields := range conditions {
				labels = append(labels, fmt.Sprintf("GET %s with %v", target, fields))
				answers[e.Name] = append(answers[e.Name], ask(t, client, s.Addr, "GET", target, fields))
			}
		}
		names = labels
	})
	first := engines()[0].Name
	for _, e := range engines()[1:] {
		if len(answers[e.Name]) != len(answers[first]) {
			t.Errorf("%s: %d answers, %s: %d", e.Name, len(answers[e.Name]), first, len(answers[first]))
			continue
		}
		for i, a := range answers[e.Name] {
			if want := answers[first][i]; a.status != want.status || a.fields != want.fields || !bytes.Equal(a.body, want.body) {
				t.Errorf("%s:\n%s: %s\n%s: %s", names[i], e.Name, a, first, want)
			}
		}
	}
}

func (a answer) String() string {
	return fmt.Sprintf("%d, body %d %.40q\n%s", a.status, len(a.body), a.body, a.fields)
}
