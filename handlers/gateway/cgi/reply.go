package cgi

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// How a reply can be broken by its program.
var (
	errShort  = errors.New("output is shorter than its Content-Length")
	errSignal = errors.New("ended by a signal")
)

// statusFor returns the status that answers why a run gave no reply.
func statusFor(err error) int {
	switch {
	case errors.Is(err, errLimit), errors.Is(err, errGone):
		return http.StatusGatewayTimeout
	case errors.Is(err, cgi.ErrStatus), errors.Is(err, errShort), errors.Is(err, errSignal):
		return http.StatusBadGateway
	}
	return cgi.BodyStatus(err)
}

// abandon answers with an error and ends the program.
func (r *run) abandon(x *weighstone.Exchange, err error) {
	r.kill(errClosed)
	r.end()
	status, _ := r.p.Reaped()
	r.h.opts.Log.Error("CGI reply is no good", "script", r.script, "err", err, "exit", status.ExitStatus())
	x.Fail(statusFor(err))
	r.settle(x)
	r.free()
}

// replyWhole answers with output that is all there.
func (r *run) replyWhole(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	err := r.end()
	head := x.In.Verb == weighstone.HEAD
	if err == nil && !head && int64(len(body)) < hd.Length {
		err = errShort
	}
	if err != nil {
		r.abandon(x, err)
		return
	}
	r.fillHead(x, hd)
	switch {
	case x.Out.Bodyless():
	case head && (hd.Length >= 0 || len(body) == 0):
		x.SendStream(http.NoBody, hd.Length)
	default:
		r.sendBytes(x, hd, body)
	}
	r.settle(x)
	r.free()
}

// replyPart answers with output of which some is there.
func (r *run) replyPart(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	r.fillHead(x, hd)
	switch {
	case x.Out.Bodyless():
	case x.In.Verb == weighstone.HEAD:
		x.SendStream(http.NoBody, hd.Length)
	case hd.Length >= 0 && hd.Length <= int64(len(body)):
		r.sendBytes(x, hd, body)
	default:
		r.watch()
		r.pauseAt(never)
		x.Out.Close = x.Out.Close || r.feed != nil && !(r.feed.idle() && r.feed.whole)
		x.SendStream(&stream{run: r, rest: body, left: hd.Length}, hd.Length)
		return
	}
	r.settle(x)
	r.retire()
}

// fillHead fills in what the header says, but for the body.
func (r *run) fillHead(x *weighstone.Exchange, hd *cgi.Header) {
	x.Out.Status = hd.Status
	x.Out.Type = hd.Type
	if hd.Location != "" {
		x.AddField("Location", hd.Location)
		if hd.Status == 0 {
			x.Out.Status = http.StatusFound
		}
	}
	x.Out.Extra = append(x.Out.Extra, hd.Fields...)
}

// sendBytes answers with body, or as much of it as the header announced.
func (r *run) sendBytes(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	if hd.Length >= 0 && int64(len(body)) > hd.Length {
		r.h.opts.Log.Warn("CGI output is longer than its Content-Length", "script", r.script)
		body = body[:hd.Length]
	}
	x.Scratch = append(x.Scratch[:0], body...)
	x.SendScratch(x.Out.Type)
}

// settle stops the copying of the request's body, once the reply stands in x.
// If the copying waits for the client and the engine can't interrupt that,
// the reply becomes a stream, so that it leaves before the wait.
func (r *run) settle(x *weighstone.Exchange) {
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
	feed *feeder
}

// Close waits until nobody reads the request's body any more.
func (t *tail) Close() error {
	<-t.feed.done
	return nil
}

// free gives back what a run holds whose output is no longer read.
func (r *run) free() {
	r.detach.Do(func() { close(r.detached) })
	r.p.CloseFiles()
	if cap(*r.buf) <= 2*maxMemory {
		*r.buf = (*r.buf)[:0]
		r.h.buffers.Put(r.buf)
	}
	r.buf = nil
}

// retire lets the program finish in the background, its further output read
// and dropped, as RFC 3875 section 6.4 asks.
func (r *run) retire() {
	r.watch()
	r.pauseAt(never)
	r.detach.Do(func() { close(r.detached) })
	go r.finish(false)
}

// finish reads output to its end, if it is not there yet, and drops it; then
// the run is over.
func (r *run) finish(atEnd bool) {
	if !atEnd {
		r.watch()
		r.pauseAt(never)
		for err := error(nil); err == nil || err == errPause; err = r.fill() {
			*r.buf = (*r.buf)[:0]
		}
	}
	r.end()
	if r.feed != nil {
		r.feed.stop()
		<-r.feed.done
	}
	r.free()
}

// bodyRead says whether all of the request's body was copied; only once the
// copying has ended.
func (r *run) bodyRead() bool { return r.feed == nil || r.feed.whole }
