package servertest_test

import (
	"github.com/weighstone/weighstone/servers/servertest"
)

var fileCases = []servertest.Case{
	{Name: "the whole", Send: get("/100.html"), Want: "200 | Accept-Ranges: bytes | Last-Modified: " + lastModified + " | +ETag | Content-Type: text/html; charset=utf-8 / open"},
	{Name: "an empty file", Send: get("/empty.txt"), Want: "200 | Content-Length: 0 | # / open"},
	{Name: "a directory", Send: get("/sub/"), Want: "200 | @/sub/index.html / open"},
	{Name: "a directory without its slash", Send: get("/sub"), Want: "301 | Location: /sub/ / open"},
	{Name: "a directory is not listed", Send: get("/bare/"), Want: "404 / open"},
	{Name: "the first bytes", Send: get("/100.html", "Range: bytes=0-9"), Want: "206 | Content-Range: bytes 0-9/100 | Content-Length: 10 | =ABCDEFGHIJ / open"},
	{Name: "the last bytes", Send: get("/100.html", "Range: bytes=-3"), Want: "206 | Content-Range: bytes 97-99/100 | #3 / open"},
	{Name: "from a byte on", Send: get("/100.html", "Range: bytes=90-"), Want: "206 | Content-Range: bytes 90-99/100 | #10 / open"},
	{Name: "a range beyond the end", Send: get("/100.html", "Range: bytes=90-1000"), Want: "206 | Content-Range: bytes 90-99/100 | #10 / open"},
	{Name: "a range of a file from disk", Send: get("/200k.bin", "Range: bytes=1000-150999"), Want: "206 | Content-Range: bytes 1000-150999/204800 | #150000 / open"},
	{Name: "two ranges", Send: get("/100.html", "Range: bytes=0-0,99-99"), Want: "206 | +Content-Type | -Content-Range / open"},
	{Name: "a range that cannot be", Send: get("/100.html", "Range: bytes=100-"), Want: "416 | Content-Range: bytes */100 / open"},
	{Name: "a malformed range", Send: get("/100.html", "Range: bytes=5-2"), Want: "200 | @/100.html / open"},
	{Name: "another unit", Send: get("/100.html", "Range: lines=1-2"), Want: "200 | @/100.html / open"},
	{Name: "a range of a HEAD", Send: request("HEAD", "/100.html", "Range: bytes=0-9"), Want: "200 | head | Content-Length: 100 / open"},
	{Name: "If-Range of another version", Send: get("/100.html", "Range: bytes=0-9", `If-Range: "x"`), Want: "200 | @/100.html / open"},
	{Name: "If-Range of this date", Send: get("/100.html", "Range: bytes=0-9", "If-Range: "+lastModified), Want: "206 | #10 / open"},
	{Name: "not modified since", Send: get("/100.html", "If-Modified-Since: "+lastModified), Want: "304 | -Content-Length | -Transfer-Encoding | +ETag / open"},
	{Name: "HEAD not modified since", Send: request("HEAD", "/100.html", "If-Modified-Since: "+lastModified), Want: "304 | head | -Content-Length / open"},
	{Name: "not modified, a file from disk", Send: get("/200k.bin", "If-Modified-Since: "+lastModified), Want: "304 | -Content-Length / open"},
	{Name: "modified since", Send: get("/100.html", "If-Modified-Since: Thu, 29 Feb 2024 12:30:44 GMT"), Want: "200 | @/100.html / open"},
	{Name: "an ETag counts before a date", Send: get("/100.html", `If-None-Match: "x"`, "If-Modified-Since: "+lastModified), Want: "200 | @/100.html / open"},
	{Name: "If-Match of another version", Send: get("/100.html", `If-Match: "x"`), Want: "412 / open"},
	{Name: "unmodified since before", Send: get("/100.html", "If-Unmodified-Since: Thu, 29 Feb 2024 12:30:44 GMT"), Want: "412 / open"},
}
