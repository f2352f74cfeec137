package script

import (
	"errors"
	"time"
)

// ErrBusy says that as many run as may, and none ended in time.
var ErrBusy = errors.New("all interpreters are busy")

// A Pool bounds how many run at a time, and keeps what they run in for the
// next. A seat is made when it is first taken.
type Pool[T any] struct {
	seats chan *T // nil for one that is to be made
	make  func() *T
}

// NewPool makes a pool of n seats.
func NewPool[T any](n int, make_ func() *T) *Pool[T] {
	p := &Pool[T]{seats: make(chan *T, n), make: make_}
	for range n {
		p.seats <- nil
	}
	return p
}

// Take returns a seat, which the caller gives back by Put. It waits until the
// deadline, or until gone is closed, and then returns [ErrBusy].
func (p *Pool[T]) Take(deadline time.Time, gone <-chan struct{}) (*T, error) {
	select {
	case t := <-p.seats:
		return p.made(t), nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case t := <-p.seats:
		return p.made(t), nil
	case <-timer.C:
	case <-gone:
	}
	return nil, ErrBusy
}

func (p *Pool[T]) made(t *T) *T {
	if t == nil {
		return p.make()
	}
	return t
}

// Put gives back a seat; nil has the next who takes it make a new one.
func (p *Pool[T]) Put(t *T) { p.seats <- t }

// Close calls end for all that were made. All seats must have been given back.
func (p *Pool[T]) Close(end func(*T)) {
	for range cap(p.seats) {
		if t := <-p.seats; t != nil {
			end(t)
		}
	}
}
