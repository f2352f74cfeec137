package cgi

import (
	"bytes"
	"io"
	"os"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// A feeder copies a request's body to a program, beside the reading of its
// output: a program may write much before it reads, or never read.
type feeder struct {
	body  io.Reader
	left  int64
	pipe  *os.File
	done  chan struct{} // closed when body is no longer read
	whole bool          // all of body was read; valid once done
}

// newFeeder copies the body of a request, or what of it was spooled to memory.
func newFeeder(pipe *os.File, body io.Reader, in cgi.Spool) *feeder {
	if in.Mem != nil {
		body = bytes.NewReader(in.Mem)
	}
	return &feeder{body: body, left: in.Length, pipe: pipe, done: make(chan struct{})}
}

// run copies until the announced length is reached or the program wants no
// more. A fault of the body ends the program: it must not take a part for the
// whole.
func (f *feeder) run(r *run) {
	defer close(f.done)
	defer f.pipe.Close()
	buf := make([]byte, min(f.left, 32<<10))
	for f.left > 0 {
		n, err := f.body.Read(buf[:min(f.left, int64(len(buf)))])
		f.left -= int64(n)
		if n > 0 {
			if _, werr := f.pipe.Write(buf[:n]); werr != nil {
				break
			}
		}
		if err != nil && f.left > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			r.kill(cgi.BodyError(err))
			return
		}
	}
	f.whole = f.left == 0
}

// idle says whether the copying has ended.
func (f *feeder) idle() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// stop ends the copying and says whether it has ended: not if it waits for
// the client in a reader that can't be interrupted.
func (f *feeder) stop() bool {
	f.pipe.Close()
	if i, ok := f.body.(weighstone.Interrupter); ok && !f.idle() {
		i.Interrupt()
		<-f.done
	}
	return f.idle()
}
