package servertest_test

import (
	"strings"

	"github.com/weighstone/weighstone/servers/servertest"
)

var lineCases = []servertest.Case{
	{Name: "no version", Send: "GET /100.html\r\n" + host + "\r\n", Want: refused},
	{Name: "a version in lower case", Send: "GET /100.html http/1.1\r\n" + host + "\r\n", Want: refused},
	{Name: "HTTP/1.2 is read as 1.1", Send: "GET /100.html HTTP/1.2\r\n" + host + "\r\n", Want: "200 | @/100.html / open"},
	{Name: "HTTP/2.0", Send: "GET /100.html HTTP/2.0\r\n" + host + "\r\n", Want: "505 | Connection: close / close"},
	{Name: "two spaces", Send: "GET  /100.html HTTP/1.1\r\n" + host + "\r\n", Want: refused},
	{Name: "a space behind the version", Send: "GET /100.html HTTP/1.1 \r\n" + host + "\r\n", Want: refused},
	{Name: "a control character in the target", Send: "GET /\x01 HTTP/1.1\r\n" + host + "\r\n", Want: refused},
	{Name: "a target of 8,000 bytes", Send: get("/100.html?" + strings.Repeat("q", 7990)), Want: "200 | @/100.html / open"},
	{Name: "a request line that is too long", Send: get("/" + strings.Repeat("a", 20<<10)), Want: "414 | Connection: close / close"},
	{Name: "a header line of 6,000 bytes", Send: get("/100.html", "X: "+strings.Repeat("a", 6000)), Want: "200 | @/100.html / open"},
	{Name: "header lines that are too long together", Send: get("/100.html", "X: "+strings.Repeat("a", 8000), "Y: "+strings.Repeat("b", 9000)), Want: "431 | Connection: close / close"},
	{Name: "90 header lines", Send: get("/100.html", strings.Split(strings.Repeat("X: a,", 90), ",")[:90]...), Want: "200 | @/100.html / open"},
	{Name: "too many header lines", Send: get("/100.html", strings.Split(strings.Repeat("X: a,", 1000), ",")[:1000]...), Want: "431 | Connection: close / close"},
	{Name: "a TLS hello", Send: "\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03\r\n\r\n", Want: refused},
	{Name: "an HTTP/2 preface", Send: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Want: "400,505 | Connection: close / close"},
}
