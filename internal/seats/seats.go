// Package seats bounds how many use something at a time, and keeps what they
// use for the next: interpreters, connections to a database.
package seats

import (
	"errors"
	"time"
)

// ErrBusy says that all seats were taken, and none was given back in time.
var ErrBusy = errors.New("all seats are taken")

// A Pool has a number of seats. What sits there is made when a seat is first
// taken.
type Pool[T any] struct {
	seats chan *T // nil for one that is to be made
	make  func() (*T, error)
}

// New makes a pool of n seats.
func New[T any](n int, make_ func() (*T, error)) *Pool[T] {
	p := &Pool[T]{seats: make(chan *T, n), make: make_}
	for range n {
		p.seats <- nil
	}
	return p
}

// Take returns a seat, which the caller gives back by Put. It waits until the
// deadline, or until gone is closed, and then returns [ErrBusy]; another error
// says that what sits there could not be made.
func (p *Pool[T]) Take(deadline time.Time, gone <-chan struct{}) (*T, error) {
	select {
	case t := <-p.seats:
		return p.made(t)
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case t := <-p.seats:
		return p.made(t)
	case <-timer.C:
	case <-gone:
	}
	return nil, ErrBusy
}

func (p *Pool[T]) made(t *T) (*T, error) {
	if t != nil {
		return t, nil
	}
	t, err := p.make()
	if err != nil {
		p.seats <- nil
		return nil, err
	}
	return t, nil
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
