package seats

import (
	"errors"
	"testing"
	"time"
)

func TestPool(t *testing.T) {
	made, fails := 0, false
	p := New(2, func() (*int, error) {
		if fails {
			return nil, errors.New("can't")
		}
		made++
		n := made
		return &n, nil
	})
	take := func() (*int, error) { return p.Take(time.Now().Add(time.Millisecond), nil) }
	a, err := take()
	if err != nil || *a != 1 {
		t.Fatalf("%v, %v", a, err)
	}
	p.Put(a)
	fails = true
	if _, err := take(); err == nil || errors.Is(err, ErrBusy) { // a seat in which nobody sat yet
		t.Errorf("made in spite of a failure: %v", err)
	}
	fails = false
	if a, err = take(); err != nil || *a != 1 {
		t.Errorf("a failed seat came before the kept one, or was lost: %v, %v", a, err)
	}
	b, err := take()
	if err != nil || *b != 2 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := take(); err != ErrBusy {
		t.Errorf("a third of two: %v", err)
	}
	gone := make(chan struct{})
	close(gone)
	if _, err := p.Take(time.Now().Add(time.Hour), gone); err != ErrBusy {
		t.Errorf("a client that is gone: %v", err)
	}
	time.AfterFunc(time.Millisecond, func() { p.Put(b) })
	if b, err = p.Take(time.Now().Add(time.Minute), nil); err != nil || *b != 2 {
		t.Errorf("given back: %v, %v", b, err)
	}
	p.Put(nil)
	p.Put(a)
	var ended []int
	p.Close(func(n *int) { ended = append(ended, *n) })
	if len(ended) != 1 || ended[0] != 1 {
		t.Errorf("ended %v, want 1", ended)
	}
}
