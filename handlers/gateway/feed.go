package gateway

import (
	"io"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// A Sink is a program's input.
type Sink interface {
	io.Writer
	End() error // the body is whole
	Cut()       // nothing more: a Write that waits fails, in whatever goroutine
}

// A Feeder copies a request's body to a program, beside the reading of its
// output: a program may write much before it reads, or never read.
type Feeder struct {
	body  io.Reader
	left  int64
	sink  Sink
	done  chan struct{} // closed when body is no longer read
	whole bool          // all of body was read; valid once done
}

// NewFeeder makes a feeder for length bytes of body.
func NewFeeder(sink Sink, body io.Reader, length int64) *Feeder {
	return &Feeder{body: body, left: length, sink: sink, done: make(chan struct{})}
}

// Run copies until the announced length is reached or the program wants no
// more. A fault of the body breaks the program off by kill: it must not take
// a part for the whole.
func (f *Feeder) Run(kill func(error)) {
	defer close(f.done)
	buf := make([]byte, min(f.left, 32<<10))
	for f.left > 0 {
		n, err := f.body.Read(buf[:min(f.left, int64(len(buf)))])
		f.left -= int64(n)
		if n > 0 {
			if _, werr := f.sink.Write(buf[:n]); werr != nil {
				f.sink.Cut()
				f.whole = f.left == 0
				return
			}
		}
		if err != nil && f.left > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			kill(cgi.BodyError(err))
			f.sink.Cut()
			return
		}
	}
	f.whole = true
	f.sink.End()
}

// idle says whether the copying has ended.
func (f *Feeder) idle() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// stop ends the copying and says whether it has ended: not if it waits for
// the client in a reader that can't be interrupted.
func (f *Feeder) stop() bool {
	if f.idle() {
		return true
	}
	f.sink.Cut()
	if i, ok := f.body.(weighstone.Interrupter); ok {
		i.Interrupt()
		<-f.done
	}
	return f.idle()
}
