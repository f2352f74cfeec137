package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

var errNone = errors.New("no output")

// A Reply is made of a program's output for one exchange.
type Reply struct {
	host    *Host
	out     Output
	script  string
	feed    *Feeder // nil when no body is copied to the program
	buf     *[]byte // output read so far, header included; from the pool
	watched bool
}

// Answer makes x's reply of what out says and feed, if there is one, reads.
// script names the program in the log.
func (h *Host) Answer(x *weighstone.Exchange, script string, out Output, feed *Feeder) {
	r := &Reply{host: h, out: out, script: script, feed: feed, buf: h.buffers.Get().(*[]byte)}
	hd, n, err := r.collect()
	switch {
	case err != nil && err != io.EOF:
		r.abandon(x, err)
	case hd.Local():
		r.finish(err == io.EOF)
		x.Out.Close = x.Out.Close || !r.bodyRead()
		h.redirect(x, hd.Location)
	case err == io.EOF:
		r.replyWhole(x, &hd, (*r.buf)[n:])
	default:
		r.replyPart(x, &hd, (*r.buf)[n:])
	}
}

// watch has the limits watched.
func (r *Reply) watch() {
	if !r.watched {
		r.watched = true
		r.out.Watch()
	}
}

// collect reads until the header and the end of output are there, which
// io.EOF says, or the header and more body than is kept, or a pause in it. It
// returns where the body begins.
func (r *Reply) collect() (hd cgi.Header, n int, err error) {
	r.out.PauseAt(moment())
	seen := 0
	for {
		b := *r.buf
		if n == 0 && (bytes.IndexByte(b[seen:], '\n') >= 0 || len(b)-seen > cgi.MaxLine) {
			seen = len(b)
			if hd, n, err = cgi.ParseHeader(b); err != nil {
				return hd, 0, err
			}
			if n > 0 && r.watched {
				r.out.PauseAt(moment())
			}
		}
		if n > 0 && len(b)-n >= MaxMemory {
			return hd, n, nil
		}
		switch err = r.fill(); {
		case err == ErrPause && n > 0:
			r.watch()
			return hd, n, nil
		case err == ErrPause:
			r.watch()
			r.out.PauseAt(Never)
		case err == io.EOF && n == 0:
			return hd, 0, r.cutShort()
		case err != nil:
			return hd, n, err
		}
	}
}

// cutShort returns why output is at its end before its header is: the program's
// own end may tell.
func (r *Reply) cutShort() error {
	if err := r.out.End(); err != nil {
		return err
	}
	if len(*r.buf) == 0 {
		return errNone
	}
	return fmt.Errorf("output ends before the header does: %w", io.ErrUnexpectedEOF)
}

// fill reads once to the end of the buffer.
func (r *Reply) fill() error {
	b := *r.buf
	if cap(b)-len(b) < 512 {
		b = append(b, make([]byte, cap(b))...)[:len(b)]
	}
	n, err := r.out.Read(b[len(b):cap(b)])
	*r.buf = b[:len(b)+n]
	return err
}

// statusFor returns the status that answers why there is no reply.
func statusFor(err error) int {
	switch {
	case errors.Is(err, ErrLimit), errors.Is(err, ErrGone):
		return http.StatusGatewayTimeout
	case errors.Is(err, ErrBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, cgi.ErrStatus), errors.Is(err, ErrShort), errors.Is(err, ErrBroken):
		return http.StatusBadGateway
	}
	return cgi.BodyStatus(err)
}

// abandon answers with an error and ends the program.
func (r *Reply) abandon(x *weighstone.Exchange, err error) {
	r.out.Kill(ErrClosed)
	r.out.End()
	r.host.Log.Error(r.host.Kind+" reply is no good", "script", r.script, "err", err, "exit", r.out.Status())
	x.Fail(statusFor(err))
	if x.Out.Status == http.StatusServiceUnavailable {
		x.AddField("Retry-After", "1")
	}
	r.settle(x)
	r.free()
}

// replyWhole answers with output that is all there.
func (r *Reply) replyWhole(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	err := r.out.End()
	head := x.In.Verb == weighstone.HEAD
	if err == nil && !head && int64(len(body)) < hd.Length {
		err = ErrShort
	}
	if err != nil {
		r.abandon(x, err)
		return
	}
	fillHead(x, hd)
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
func (r *Reply) replyPart(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	fillHead(x, hd)
	switch {
	case x.Out.Bodyless():
	case x.In.Verb == weighstone.HEAD:
		x.SendStream(http.NoBody, hd.Length)
	case hd.Length >= 0 && hd.Length <= int64(len(body)):
		r.sendBytes(x, hd, body)
	default:
		r.watch()
		r.out.PauseAt(Never)
		x.Out.Close = x.Out.Close || r.feed != nil && !(r.feed.idle() && r.feed.whole)
		x.SendStream(&stream{reply: r, rest: body, left: hd.Length}, hd.Length)
		return
	}
	r.settle(x)
	r.retire()
}

// fillHead fills in what the header says, but for the body.
func fillHead(x *weighstone.Exchange, hd *cgi.Header) {
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
func (r *Reply) sendBytes(x *weighstone.Exchange, hd *cgi.Header, body []byte) {
	if hd.Length >= 0 && int64(len(body)) > hd.Length {
		r.host.Log.Warn(r.host.Kind+" output is longer than its Content-Length", "script", r.script)
		body = body[:hd.Length]
	}
	x.Scratch = append(x.Scratch[:0], body...)
	x.SendScratch(x.Out.Type)
}
