package servertest_test

import (
	"strings"

	"github.com/weighstone/weighstone/servers/servertest"
)

var connectionCases = []servertest.Case{
	{Name: "1.1 persists", Send: get("/100.html"), Want: "200 | Content-Length: 100 | -Connection | -Transfer-Encoding | @/100.html / open"},
	{Name: "1.1 close", Send: get("/100.html", "Connection: close"), Want: "200 | Connection: close | @/100.html / close"},
	{Name: "close in a list, in any case", Send: get("/100.html", "Connection: te,, CLOSE"), Want: "200 | Connection: close | @/100.html / close"},
	{Name: "close in a second line", Send: get("/100.html", "Connection: te", "connection: close"), Want: "200 | Connection: close | @/100.html / close"},
	{Name: "close beats keep-alive", Send: get("/100.html", "Connection: keep-alive, close"), Want: "200 | Connection: close | @/100.html / close"},
	{Name: "1.1 keep-alive", Send: get("/100.html", "Connection: keep-alive"), Want: "200 | @/100.html / open"},
	{Name: "1.0 closes", Send: "GET /100.html HTTP/1.0\r\n\r\n", Want: "200 | Content-Length: 100 | !Connection: keep-alive | @/100.html / close"},
	{Name: "1.0 keep-alive", Send: "GET /100.html HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "200 | Connection: keep-alive | Content-Length: 100 | @/100.html / open"},
	{Name: "1.0 Keep-Alive of ab", Send: "GET /100.html HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n", Want: "200 | Connection: keep-alive | Content-Length: 100 | @/100.html / open"},
	{Name: "1.0 keep-alive, a file from disk", Send: "GET /200k.bin HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "200 | Connection: keep-alive | Content-Length: 204800 | @/200k.bin / open"},
	{Name: "1.0 keep-alive, an error", Send: "GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "404 | Connection: keep-alive | +Content-Length / open"},
	{Name: "1.0 keep-alive, HEAD", Send: "HEAD /100.html HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "200 | head | Connection: keep-alive | Content-Length: 100 / open"},
	{Name: "1.0 keep-alive, scratch", Send: "POST /test/mirror HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", Want: "200 | Connection: keep-alive | =hello / open"},
	{Name: "1.0 stream ends with the connection", Send: "GET /test/stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "200 | !Connection: keep-alive | -Transfer-Encoding | -Content-Length | #50000 / close"},
	{Name: "1.0 stream of known length", Send: "GET /test/measured HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Want: "200 | Connection: keep-alive | Content-Length: 50000 | #50000 / open"},
	{Name: "1.1 stream is chunked", Send: get("/test/stream"), Want: "200 | Transfer-Encoding: chunked | -Content-Length | #50000 / open"},
	{Name: "1.1 stream of known length", Send: get("/test/measured"), Want: "200 | Content-Length: 50000 | -Transfer-Encoding | #50000 / open"},
	{Name: "a stream beyond its length is cut", Send: get("/test/long"), Want: "200 | Content-Length: 40000 | #40000 / open"},
	{Name: "HEAD has no body", Send: request("HEAD", "/100.html"), Want: "200 | head | Content-Length: 100 | Content-Type: text/html; charset=utf-8 | Last-Modified: " + lastModified + " | +ETag / open"},
	{Name: "HEAD of a file from disk", Send: request("HEAD", "/200k.bin"), Want: "200 | head | Content-Length: 204800 / open"},
	{Name: "HEAD of what is missing", Send: request("HEAD", "/none"), Want: "404 | head | Content-Length: 14 / open"},
	{Name: "HEAD of a page", Send: request("HEAD", "/test/page"), Want: "200 | head | Content-Length: 77 / open"},
	{Name: "HEAD of nothing", Send: request("HEAD", "/test/nothing"), Want: "200 | head / open"},
	{Name: "HEAD of a stream", Send: request("HEAD", "/test/stream"), Want: "200 | head / open"},
	{Name: "HEAD of a measured stream", Send: request("HEAD", "/test/measured"), Want: "200 | head | Content-Length: 50000 / open"},
	{Name: "no body is Content-Length 0", Send: get("/test/nothing"), Want: "200 | Content-Length: 0 | -Transfer-Encoding | # / open"},
	{Name: "empty lines before a request (RFC 9112 2.2)", Send: "\r\n\r\n" + get("/100.html"), Want: "200 | @/100.html / open"},
	{Name: "a page longer than is copied", Send: get("/20k.html"), Want: "200 | Content-Length: 20480 | @/20k.html / open"},
	{Name: "a file from disk", Send: get("/200k.bin"), Want: "200 | Content-Length: 204800 | @/200k.bin / open"},
	{Name: "twenty in a pipeline", Send: strings.Repeat(get("/100.html")+get("/none")+request("HEAD", "/20k.html")+post("hello"), 5),
		Want: strings.Repeat("200 | @/100.html / 404 / 200 | head / 200 | =hello / ", 5) + "open"},
	{Name: "files of every size in a pipeline", Send: get("/200k.bin") + get("/100.html") + get("/20k.html") + get("/test/stream") + get("/empty.txt") + get("/200k.bin") + get("/test/page"),
		Want: "200 | @/200k.bin / 200 | @/100.html / 200 | @/20k.html / 200 | #50000 / 200 | # / 200 | @/200k.bin / 200 | #77 / open"},
	{Name: "good ones before a malformed one", Send: get("/100.html") + get("/20k.html") + "BAD\r\n\r\n", Want: "200 | @/100.html / 200 | @/20k.html / 400 | Connection: close / close"},
	{Name: "a handler that panics", Send: get("/test/panic"), Want: "500 | Connection: close / close"},
}
