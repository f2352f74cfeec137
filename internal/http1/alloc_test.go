//go:build !race

package http1

import (
	"testing"
	"time"
)

// Warm, nothing here allocates.
func TestAllocations(t *testing.T) {
	var r Request
	var reply Response
	var lim Limits
	var clock Clock
	var sink countingSink
	web, answer := []byte(webHead), []byte(replyHead)
	chunked := []byte("5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n")
	bad := []byte(post + "Transfer-Encoding: gzip, chunked\r\n\r\n")
	dst := make([]byte, 0, 1024)
	now := time.Unix(1e9, 0)
	for name, step := range map[string]func(){
		"request":          func() { r.Parse(web, 0, &lim) },
		"dribbled request": func() { r.Parse(web[:100], 0, &lim); r.Parse(web[:101], 100, &lim); r.Parse(web, 101, &lim) },
		"refused request":  func() { r.Parse(bad, 0, &lim) },
		"get":              func() { r.Fields.Get("If-None-Match"); r.Fields.Get("Range") },
		"each":             func() { r.Fields.Each(&sink) },
		"response":         func() { reply.Parse(answer, false, &lim) },
		"chunks": func() {
			var c Chunks
			for rest, done := chunked, false; !done; {
				var n int
				_, n, done, _ = c.Next(rest)
				rest = rest[n:]
			}
		},
		"render": func() {
			dst = AppendStatusLine(dst[:0], 1, 404)
			dst = AppendField(dst, "Server", "weighstone")
			dst = AppendFieldInt(dst, "Content-Length", 1234567)
			dst = AppendChunk(dst, chunked)
		},
		"date": func() { now = now.Add(time.Second / 2); clock.Date(now) },
	} {
		if got := testing.AllocsPerRun(100, step); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

type countingSink int

func (c *countingSink) Field(name, value []byte) { *c += countingSink(len(name) + len(value)) }
