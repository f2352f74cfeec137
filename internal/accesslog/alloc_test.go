//go:build !race

package accesslog

import (
	"io"
	"testing"
)

func TestExchangeAllocatesNothing(t *testing.T) {
	l, err := Open(Options{Name: "-", Combined: true}, io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x := exchange("GET", "/100.html")
	for range 2 * bufferSize / 50 {
		l.Exchange(x, 200, 100)
	}
	if n := testing.AllocsPerRun(10000, func() { l.Exchange(x, 200, 100) }); n != 0 {
		t.Errorf("%v allocations a line, want 0", n)
	}
}
