package gateway

import (
	"bytes"
	"io"
	"time"

	"github.com/weighstone/weighstone"
)

// moment is when output has waited for more.
func moment() time.Time { return time.Now().Add(Prompt) }

// settle stops the copying of the request's body, once the reply stands in x.
// If the copying waits for the client and the engine can't interrupt that,
// the reply becomes a stream, so that it leaves before the wait.
func (r *Reply) settle(x *weighstone.Exchange) {
	if r.feed == nil {
		return
	}
	idle := r.feed.stop()
	x.Out.Close = x.Out.Close || !idle || !r.bodyRead()
	if idle {
		return
	}
	var body []byte
	if x.Out.Body.Kind == weighstone.BodyScratch {
		body = bytes.Clone(x.Scratch)
	}
	x.SendStream(&tail{bytes.NewReader(body), r.feed}, int64(len(body)))
}

// A tail is a short reply whose closing waits for the end of the upload.
type tail struct {
	io.Reader
	feed *Feeder
}

// Close waits until nobody reads the request's body any more.
func (t *tail) Close() error {
	<-t.feed.done
	return nil
}

// free gives back what a reply holds whose output is no longer read.
func (r *Reply) free() {
	r.out.Detach()
	r.out.Free()
	if cap(*r.buf) <= 2*MaxMemory {
		*r.buf = (*r.buf)[:0]
		r.host.buffers.Put(r.buf)
	}
	r.buf = nil
}

// retire lets the program finish in the background, its further output read
// and dropped, as RFC 3875 section 6.4 asks.
func (r *Reply) retire() {
	r.watch()
	r.out.PauseAt(Never)
	r.out.Detach()
	go r.finish(false)
}

// finish reads output to its end, if it is not there yet, and drops it; then
// the program is over.
func (r *Reply) finish(atEnd bool) {
	if !atEnd {
		r.watch()
		r.out.PauseAt(Never)
		for err := error(nil); err == nil || err == ErrPause; err = r.fill() {
			*r.buf = (*r.buf)[:0]
		}
	}
	r.out.End()
	if r.feed != nil {
		r.feed.stop()
		<-r.feed.done
	}
	r.free()
}

// bodyRead says whether all of the request's body was copied; only once the
// copying has ended.
func (r *Reply) bodyRead() bool { return r.feed == nil || r.feed.whole }
