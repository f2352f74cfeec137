package thread

import (
	"testing"

	"github.com/weighstone/weighstone/internal/sys"
)

// TestLine: what comes out is what went in, in its order, however long the line
// gets; it says when that is too long, and ends when it is closed and empty.
func TestLine(t *testing.T) {
	q := newLine[int](100)
	var thread sys.Sleeper
	in, out := 0, 0
	take := func() {
		t.Helper()
		if v, ok := q.next(&thread); !ok || v != out {
			t.Fatalf("%d, %v; want %d", v, ok, out)
		}
		out++
	}
	for range 50 { // the ring begins in its middle when it grows
		q.Take(in)
		in++
		take()
	}
	for range 1000 {
		if busy := q.Busy(); busy != (in-out >= 100) {
			t.Fatalf("busy with %d in line: %v", in-out, busy)
		}
		q.Take(in)
		in++
	}
	q.close()
	for out < in {
		take()
	}
	if v, ok := q.next(&thread); ok {
		t.Errorf("a closed line gives %d", v)
	}
}

// TestLineWakes: each thread that sleeps is woken for one, and all at the end.
func TestLineWakes(t *testing.T) {
	q := newLine[int](1)
	const threads, each = 4, 1000
	sums := make(chan int)
	for range threads {
		go func() {
			var idle sys.Sleeper
			sum := 0
			for v, ok := q.next(&idle); ok; v, ok = q.next(&idle) {
				sum += v
			}
			sums <- sum
		}()
	}
	for range each {
		q.Take(1)
	}
	q.close()
	sum := 0
	for range threads {
		sum += <-sums
	}
	if sum != each {
		t.Errorf("%d of %d came out", sum, each)
	}
}
