package servertest_test

import (
	"strings"

	"github.com/weighstone/weighstone/servers/servertest"
)

// The paths that libraries normalise each in a way of their own.
var pathCases = []servertest.Case{
	{Name: "an escape that is none", Send: get("/%31%30%30.html"), Want: "200 | @/100.html / open"},
	{Name: "dot segments", Send: get("/./sub/../100.html"), Want: "200 | @/100.html / open"},
	{Name: "dot segments with escapes", Send: get("/sub/%2e%2E/100.html"), Want: "200 | @/100.html / open"},
	{Name: "empty segments", Send: get("//sub//..///100.html"), Want: "200 | @/100.html / open"},
	{Name: "above the root", Send: get("/../100.html"), Want: "400 / any"},
	{Name: "above the root with escapes", Send: get("/%2e%2e/etc/passwd"), Want: "400 / any"},
	{Name: "above the root in absolute form", Send: get("http://a/../etc/passwd"), Want: "400 / any"},
	{Name: "an escaped slash", Send: get("/..%2f..%2fetc%2fpasswd"), Want: "400 / any"},
	{Name: "an escaped slash below the root", Send: get("/sub%2findex.html"), Want: "400 / any"},
	{Name: "an escaped backslash", Send: get("/..%5c..%5cetc%5cpasswd"), Want: "404 / open"},
	{Name: "a backslash", Send: get(`/sub\index.html`), Want: "404 / open"},
	{Name: "escapes are decoded once", Send: get("/%252e%252e/etc/passwd"), Want: "404 / open"},
	{Name: "an escaped NUL", Send: get("/100.html%00"), Want: "400 / any"},
	{Name: "escaped CR LF", Send: get("/a%0d%0aX:y"), Want: "400 / any"},
	{Name: "a malformed escape", Send: get("/%zz"), Want: "400 / any"},
	{Name: "an escape cut short", Send: get("/100.html%"), Want: "400 / any"},
	{Name: "bytes that are not ASCII", Send: get("/caf\xc3\xa9"), Want: "400 / any"},
	{Name: "escaped UTF-8", Send: get("/caf%c3%a9"), Want: "200 | #11 / open"},
	{Name: "an escaped space", Send: get("/sub/a%20b.txt"), Want: "200 | #10 / open"},
	{Name: "plus is no space", Send: get("/sub/a+b.txt"), Want: "404 / open"},
	{Name: "an escaped percent sign", Send: get("/100%25.txt"), Want: "200 | #12 / open"},
	{Name: "a query", Send: get("/100.html?a=/../%zz&b"), Want: "200 | @/100.html / open"},
	{Name: "an escaped question mark", Send: get("/100.html%3fa"), Want: "404 / open"},
	{Name: "a dot file", Send: get("/.hidden"), Want: "404 / open"},
	{Name: "a dot file with an escape", Send: get("/%2ehidden"), Want: "404 / open"},
	{Name: "a link out of the root", Send: get("/outside"), Want: "403,404 / open"},
	{Name: "a file with a slash", Send: get("/100.html/"), Want: "404 / open"},
	{Name: "below a file", Send: get("/100.html/x"), Want: "404 / open"},
	{Name: "a name that is too long", Send: get("/" + strings.Repeat("a", 300)), Want: "404 / open"},
	{Name: "a route with an escape", Send: get("/test/%70age"), Want: "200 | #77 / open"},
	{Name: "a route with dot segments", Send: get("/sub/../test/./page"), Want: "200 | #77 / open"},
	{Name: "a route with an empty segment", Send: get("/test//page"), Want: "200 | #77 / open"},
	{Name: "a route in capitals", Send: get("/TEST/page"), Want: "404 / open"},
	{Name: "a route with a slash", Send: get("/test/page/"), Want: "404 / open"},
}
