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
	watched bool

	buf    *[]byte    // output read so far, header included; from the pool
	seen   int        // bytes of it in which the header does not end
	header cgi.Header // once body is known
	body   int        // where in buf it begins, 0 when not known
	ended  bool       // collect has come to its end, with err
	err    error
}

// Answer makes x's reply of what out says and feed, if there is one, reads.
// script names the program in the log.
func (h *Host) Answer(x *weighstone.Exchange, script string, out Output, feed *Feeder) {
	r := h.Begin(script, out, feed)
	r.Answer(x)
}

// Begin returns the reply that out and feed will make, of which nothing is read
// yet.
func (h *Host) Begin(script string, out Output, feed *Feeder) Reply {
	r := Reply{host: h, out: out, script: script, feed: feed, buf: h.buffers.Get().(*[]byte)}
	r.out.PauseAt(moment())
	return r
}

// Look collects what can be had without waiting from an output that says
// ErrLater then, or ErrStuck. Ready says that Answer will not wait.
func (r *Reply) Look() weighstone.Prospect {
	switch err := r.collect(); {
	case err == ErrLater:
		return weighstone.Waiting
	case err == io.EOF && !r.header.Local():
		return weighstone.Ready
	}
	return weighstone.Stuck
}

// Answer fills in x.
func (r *Reply) Answer(x *weighstone.Exchange) {
	err := r.collect()
	switch {
	case err != nil && err != io.EOF:
		r.abandon(x, err)
	case r.header.Local():
		to := r.header.Location
		r.finish(err == io.EOF)
		x.Out.Close = x.Out.Close || !r.bodyRead()
		r.host.redirect(x, to)
	case err == io.EOF:
		r.replyWhole(x, &r.header, (*r.buf)[r.body:])
	default:
		r.replyPart(x, &r.header, (*r.buf)[r.body:])
	}
}

// Drop ends the program, whose reply nobody wants any more.
func (r *Reply) Drop() {
	r.out.Kill(ErrClosed)
	r.free()
}

// watch has the limits watched.
func (r *Reply) watch() {
	if !r.watched {
		r.watched = true
		r.out.Watch()
	}
}

// collect reads until the header and the end of output are there, which
// io.EOF says, or the header and more body than is kept, or a pause in it.
// After ErrLater and ErrStuck it goes on where it was; else it has ended.
func (r *Reply) collect() error {
	if r.ended {
		return r.err
	}
	err := r.gather()
	if err != ErrLater && err != ErrStuck {
		r.ended, r.err = true, err
	}
	return err
}

func (r *Reply) gather() error {
	for {
		if err := r.parse(); err != nil {
			return err
		}
		if r.body > 0 && len(*r.buf)-r.body >= MaxMemory {
			return nil
		}
		switch err := r.fill(); {
		case err == ErrPause && r.body > 0:
			r.watch()
			return nil
		case err == ErrPause:
			r.watch()
			r.out.PauseAt(Never)
		case err == io.EOF && r.body == 0:
			return r.cutShort()
		case err != nil:
			return err
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

// parse looks for the header, once a line of it that was not seen before has
// ended.
func (r *Reply) parse() (err error) {
	b := *r.buf
	if r.body > 0 || bytes.IndexByte(b[r.seen:], '\n') < 0 && len(b)-r.seen <= cgi.MaxLine {
		return nil
	}
	r.seen = len(b)
	if r.header, r.body, err = cgi.ParseHeader(b); err != nil {
		r.body = 0
		return err
	}
	if r.body > 0 && r.watched {
		r.out.PauseAt(moment())
	}
	return nil
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
	r.host.complain(" reply is no good", err, "script", r.script, "err", err, "exit", r.out.Status())
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
