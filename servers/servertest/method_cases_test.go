package servertest_test

import (
	"github.com/weighstone/weighstone/servers/servertest"
)

var methodCases = []servertest.Case{
	{Name: "204 has neither body nor framing", Send: get("/test/204"), Want: "204 | -Content-Length | -Transfer-Encoding | -Content-Type / open"},
	{Name: "304 has neither body nor framing", Send: get("/100.html", "If-None-Match: *"), Want: "304 | -Transfer-Encoding | +ETag | Last-Modified: " + lastModified + " / open"},
	{Name: "OPTIONS of a path", Send: request("OPTIONS", "/100.html"), Want: "204 | Allow: GET, HEAD, OPTIONS | -Content-Length | -Transfer-Encoding / open"},
	{Name: "OPTIONS *", Send: request("OPTIONS", "*"), Want: "204 | Allow: GET, HEAD, POST, OPTIONS / open"},
	{Name: "405 says what is allowed", Send: request("DELETE", "/100.html"), Want: "405 | Allow: GET, HEAD, OPTIONS / open"},
	{Name: "405 for GET of the mirror", Send: get("/test/mirror"), Want: "405 | Allow: POST, PUT, OPTIONS / open"},
	{Name: "405 drops a short body", Send: request("POST", "/100.html", "Content-Length: 5") + "hello", Want: "405 | Allow: GET, HEAD, OPTIONS / open"},
	{Name: "405 closes on a chunked body", Send: request("POST", "/100.html", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", Want: "405 | Connection: close / close"},
	{Name: "405 does not wait for a long body", Send: request("POST", "/100.html", "Content-Length: 100000"), Want: "405 | Connection: close / close"},
	{Name: "TRACE reflects nothing", Send: request("TRACE", "/100.html", "Cookie: secret"), Want: "405 / open"},
	{Name: "methods have a case", Send: request("get", "/100.html"), Want: "501 / open"},
	{Name: "an unknown method", Send: request("BREW", "/100.html"), Want: "501 / open"},
	{Name: "CONNECT", Send: request("CONNECT", "a.example:443"), Want: "501 / open"},
	{Name: "PUT where it is allowed", Send: request("PUT", "/test/mirror", "Content-Length: 2") + "ok", Want: "200 | =ok / open"},
	{Name: "absolute form", Send: get("http://a.example/100.html"), Want: "200 | @/100.html / open"},
	{Name: "absolute form in capitals, another host", Send: get("HTTP://b.example:81/100.html?x"), Want: "200 | @/100.html / open"},
	{Name: "absolute form without a path", Send: get("http://a.example"), Want: "200 | @/index.html / open"},
	{Name: "absolute form without Host", Send: "GET http://a.example/100.html HTTP/1.1\r\n\r\n", Want: refused},
	{Name: "authority form for GET", Send: get("a.example:80"), Want: "400 / any"},
	{Name: "asterisk for HEAD", Send: request("HEAD", "*"), Want: "400 | head / any"},
	{Name: "a relative target for HEAD", Send: request("HEAD", "100.html"), Want: "400 | head / any"},
	{Name: "a malformed escape for HEAD", Send: request("HEAD", "/%zz"), Want: "400 | head / any"},
	{Name: "asterisk for CONNECT", Send: request("CONNECT", "*"), Want: "501 / any"},
	{Name: "an empty Host", Send: "GET /100.html HTTP/1.1\r\nHost:\r\n\r\n", Want: "200 | @/100.html / open",
		Except: map[string]string{"fasthttp": refused, "fiber": refused}}, // taken for an absent one
	{Name: "HEAD with an empty Host", Send: "HEAD /100.html HTTP/1.1\r\nHost:\r\n\r\n", Want: "200 | head / open",
		Except: map[string]string{"fasthttp": "400 | head / close", "fiber": "400 | head / close"}},
	{Name: "asterisk for GET", Send: get("*"), Want: "400 / any"},
	{Name: "a relative target", Send: get("100.html"), Want: "400 / any"},
	{Name: "a fragment", Send: get("/100.html#top"), Want: "400 / any"},
}
