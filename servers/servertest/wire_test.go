package servertest_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/process"
	"github.com/weighstone/weighstone/servers/servertest"
)

// host is the line that makes a request of HTTP/1.1 valid.
const host = "Host: a.example\r\n"

// get is a GET of path with further header lines.
func get(path string, lines ...string) string { return request("GET", path, lines...) }

func request(method, path string, lines ...string) string {
	return method + " " + path + " HTTP/1.1\r\n" + host + headers(lines) + "\r\n"
}

func headers(lines []string) string {
	var text string
	for _, l := range lines {
		text += l + "\r\n"
	}
	return text
}

// post is a POST of body to the mirror; lines come before its length.
func post(body string, lines ...string) string {
	return request("POST", "/test/mirror", append(lines, "Content-Length: "+strconv.Itoa(len(body)))...) + body
}

// chunked is a POST to the mirror of a body that is chunked already.
func chunked(body string) string {
	return request("POST", "/test/mirror", "Transfer-Encoding: chunked") + body
}

// refused is what every malformed request comes to.
const refused = "400 | +Content-Length | Connection: close | Content-Type: text/plain; charset=utf-8 | =400 Bad Request\n / close"

// TestWire runs the cases on every engine. Under the race detector not on fork
// and inetd: a program is started for each of the hundreds of connections, which
// takes it a second, and its code is prefork's.
func TestWire(t *testing.T) {
	on(t, slices.DeleteFunc(servers.All(), func(v servers.Variant) bool {
		return raced && (v.Name == "fork" || v.Name == "inetd")
	}), wire)
}

// TestWireOfProcesses runs them on processes of each engine that processes can
// be, but for the one that they are unless told otherwise.
func TestWireOfProcesses(t *testing.T) {
	for _, engine := range []string{"nethttp", "fasthttp", "fiber"} {
		t.Run(engine, func(t *testing.T) {
			wire(t, servertest.Engine{Name: engine, New: func(o weighstone.Options) weighstone.Server {
				o.Knobs.Engine = engine
				return process.NewPreforkReuseport(o)
			}})
		})
	}
}

func wire(t *testing.T, e servertest.Engine) {
	groups := []struct {
		name  string
		cases []servertest.Case
	}{
		{"connection", connectionCases},
		{"method", methodCases},
		{"body", bodyCases},
		{"smuggling", smugglingCases},
		{"line", lineCases},
		{"file", fileCases},
		{"path", pathCases},
	}
	s, _ := suite(t, e, weighstone.Options{})
	for _, g := range groups {
		for _, c := range g.cases {
			t.Run(g.name+"/"+c.Name, func(t *testing.T) { s.Run(t, c) })
		}
	}
}
