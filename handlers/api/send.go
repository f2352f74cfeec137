package api

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"github.com/weighstone/weighstone"
)

const (
	usualSize = 10240    // bytes without ?size
	mostSize  = 16 << 20 // bytes; more is refused
	// copied bounds the replies that are copied to the exchange's workspace,
	// which then costs no allocation; longer ones are pages over the shared
	// pattern, at a handful of allocations and no copy.
	copied = 64 << 10

	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// send answers with exactly as many bytes as ?size says.
type send struct {
	usual *weighstone.Page
	short []byte        // the pattern, copied bytes of it
	long  func() []byte // the pattern, mostSize bytes of it, made when first asked for
}

func newSend() *send {
	return &send{
		usual: weighstone.NewPage("text/plain", time.Time{}, pattern(usualSize)),
		short: pattern(copied),
		long:  sync.OnceValue(func() []byte { return pattern(mostSize) }),
	}
}

// pattern returns n bytes, A to Z again and again.
func pattern(n int) []byte {
	return bytes.Repeat([]byte(alphabet), n/len(alphabet)+1)[:n]
}

// Serve answers one request.
func (s *send) Serve(x *weighstone.Exchange) {
	n, ok := sizeAsked(x.In.Query)
	switch {
	case !ok:
		x.Fail(http.StatusBadRequest)
	case n == usualSize:
		x.SendPage(s.usual)
	case n <= copied:
		x.Scratch = append(x.Scratch[:0], s.short[:n]...)
		x.SendScratch("text/plain")
	default:
		x.SendPage(weighstone.NewPage("text/plain", time.Time{}, s.long()[:n]))
	}
}

// sizeAsked returns the first size in a query, and false for one that is not a
// plain number or too large.
func sizeAsked(query []byte) (n int, ok bool) {
	const name = "size="
	for len(query) > 0 {
		var pair []byte
		pair, query, _ = bytes.Cut(query, []byte("&"))
		if len(pair) >= len(name) && string(pair[:len(name)]) == name {
			return number(pair[len(name):])
		}
	}
	return usualSize, true
}

// number reads a decimal number up to mostSize, without sign.
func number(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int(c-'0'); n > mostSize {
			return 0, false
		}
	}
	return n, len(text) > 0
}
