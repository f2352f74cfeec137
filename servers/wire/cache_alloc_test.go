//go:build !race

package wire

import (
	"bytes"
	"testing"
)

// TestCacheAllocatesNothing: a known request is answered without the heap.
func TestCacheAllocatesNothing(t *testing.T) {
	f := newFront(t, false)
	request := []byte(from("GET", "/page", "User-Agent: test"))
	out := make([]byte, 0, 4096)
	ask := func() {
		f.m.Next(request, 0, &f.peer)
		out, _, _ = f.m.Reply(out[:0], false)
	}
	ask()
	ask()
	if n := testing.AllocsPerRun(100, ask); n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
	if !bytes.HasSuffix(out, []byte("hello\n")) {
		t.Errorf("reply %q", out)
	}
}
