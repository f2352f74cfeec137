package load

import (
	"bytes"
	"crypto/sha256"

	"github.com/weighstone/weighstone/bench"
)

// Sizes up to which bodies are hashed each time, and one time in HashEvery.
const (
	hashAlways = 1 << 10
	hashOften  = 64 << 10
	hashRarer  = 16 // so many times rarer above
)

// hashed says whether the body that comes is to be hashed.
func (w *worker) hashed(c *client, x *exchange) bool {
	e := &x.ask.Expect
	seen := w.seen[x.ask.Class]
	w.seen[x.ask.Class]++
	if e.Sum == nil && e.Learn != bench.LearnContent || x.ask.Head() {
		return false
	}
	size := c.reply.stated
	if size < 0 {
		size = max(e.Length, hashAlways+1)
	}
	every := uint32(w.config.HashEvery)
	switch {
	case size <= hashAlways || every == 1:
		return true
	case size > hashOften:
		every *= hashRarer
	}
	return seen%every == 0
}

// judge says whether the complete reply to the oldest exchange is right.
func (w *worker) judge(c *client, x *exchange) bench.Fault {
	r, e := &c.reply, &x.ask.Expect
	if e.Status != r.status && (e.Status != 0 || r.status/100 != 2) {
		return bench.FaultStatus
	}
	lesson := &w.run.lessons[x.ask.Class]
	n := r.body
	if x.ask.Head() {
		n = r.stated
	}
	if want := w.wantLength(e, lesson, n); want >= 0 && n >= 0 && n != want {
		return bench.FaultLength
	}
	if x.ask.Judge != nil && !x.ask.Judge.Right() {
		return bench.FaultContent
	}
	if !r.hashing {
		return bench.FaultNone
	}
	r.sum = r.hash.Sum(r.sum[:0])
	want := e.Sum
	if want == nil {
		want = lesson.sumOf((*[sha256.Size]byte)(r.sum))
	}
	if !bytes.Equal(r.sum, want[:]) {
		return bench.FaultContent
	}
	return bench.FaultNone
}

// wantLength returns the length that a reply must have, -1 for any, given that
// it has n.
func (w *worker) wantLength(e *bench.Expect, l *lesson, n int64) int64 {
	if e.Length >= 0 || e.Learn == bench.LearnNothing || n < 0 {
		return e.Length
	}
	return l.lengthOf(n)
}
