package servertest_test

import (
	"github.com/weighstone/weighstone/servers/servertest"
)

var bodyCases = []servertest.Case{
	{Name: "by length", Send: post("hello"), Want: "200 | =hello / open"},
	{Name: "of no length", Send: post(""), Want: "200 | # / open"},
	{Name: "no length at all", Send: request("POST", "/test/mirror"), Want: "200 | # / open"},
	{Name: "leading zeros in a length", Send: request("POST", "/test/mirror", "Content-Length: 0005") + "hello", Want: "200 | =hello / open"},
	{Name: "chunked", Send: chunked("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), Want: "200 | =hello world / open"},
	{Name: "chunked in capitals", Send: request("POST", "/test/mirror", "transfer-encoding: CHUNKED") + "A\r\n0123456789\r\n0\r\n\r\n", Want: "200 | =0123456789 / open"},
	{Name: "chunked and empty", Send: chunked("0\r\n\r\n"), Want: "200 | # / open"},
	{Name: "chunk extensions are dropped", Send: chunked("5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n"), Want: "200 | =hello / open"},
	{
		Name: "trailers are dropped", Send: chunked("5\r\nhello\r\n0\r\nContent-Length: 9\r\nX: y\r\n\r\n"), Want: "200 | =hello / open",
		// fasthttp refuses trailers of names that RFC 9110 section 6.5.1 forbids
		// to send (header.go, parseTrailer).
		Except: map[string]string{"fasthttp": "400 | Connection: close / close", "fiber": "400 | Connection: close / close"},
	},
	{Name: "as long as is buffered", Send: request("POST", "/test/buffered", "Content-Length: 65536") + string(pattern(65536)), Want: "200 | #65536 / open"},
	{Name: "longer than is buffered", Send: request("POST", "/test/buffered", "Content-Length: 65537") + string(pattern(65537)), Want: "413 | Connection: close / close"},
	{Name: "chunked and buffered", Send: request("POST", "/test/buffered", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", Want: "200 | =hello / open"},
	{Name: "chunked and longer than is buffered", Send: request("POST", "/test/buffered", "Transfer-Encoding: chunked") + "10001\r\n" + string(pattern(65537)) + "\r\n0\r\n\r\n", Want: "413 | Connection: close / close"},
	{Name: "of a GET is dropped", Send: get("/100.html", "Content-Length: 5") + "hello", Want: "200 | @/100.html / open"},
	{Name: "a request as the body of a GET is dropped", Send: get("/100.html", "Content-Length: 38") + get("/none")[:38], Want: "200 | @/100.html / open"},
	{Name: "a long one of a GET", Send: get("/100.html", "Content-Length: 100000") + string(pattern(100000)), Want: "413 | Connection: close / close"},
	{Name: "one that nobody reads", Send: request("POST", "/test/unread", "Content-Length: 5") + "hello", Want: "200 | #77 / open"},
	{Name: "over the limit", Send: request("POST", "/test/mirror", "Content-Length: 1048577"), Want: "413 | Connection: close / close"},
	{Name: "over any limit", Send: request("POST", "/test/mirror", "Content-Length: 9223372036854775807"), Want: "413 | Connection: close / close"},
	{Name: "Expect with the body at once", Send: post("hello", "Expect: 100-continue"), Want: "200 | =hello / open"},
	{Name: "an unknown expectation", Send: post("hello", "Expect: tea"), Want: "417 | Connection: close / close"},
	{Name: "Expect of HTTP/1.0 is ignored", Send: "POST /test/mirror HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", Want: "200 | final | =hello / close"},
	{Name: "Expect without a body", Send: get("/100.html", "Expect: 100-continue"), Want: "200 | final | @/100.html / open"},
}
