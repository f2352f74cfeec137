package servertest_test

import (
	"sync"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestSharedFile: one open file is sent to many clients at a time, whole and in
// parts, and each gets its own bytes.
func TestSharedFile(t *testing.T) {
	const clients, rounds = 8, 10
	whole := string(pattern(200 << 10))
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, server := suiteAt(t, e, place{Kind: bodyPlace, Root: newRoot(t), Open: 4}, weighstone.Options{})
		var all sync.WaitGroup
		for i := range clients {
			c := s.Dial(t)
			all.Go(func() {
				for j := range rounds {
					want, send := whole, get("/200k.bin")
					if (i+j)%2 == 0 {
						want, send = whole[100000:150001], get("/200k.bin", "Range: bytes=100000-150000")
					}
					c.Send(send)
					if r, err := c.Receive("GET"); err != nil || string(r.Body) != want {
						t.Errorf("%v, %d bytes, want %d", err, len(r.Body), len(want))
						return
					}
				}
				c.Close()
			})
		}
		all.Wait()
		awaitConns(t, server, 0) // then nothing is sent any more, and the files can be closed
	})
}
