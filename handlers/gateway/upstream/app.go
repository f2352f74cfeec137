package upstream

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// An app is one application.
type app struct {
	name    string // in the log
	opts    *Options
	host    *gateway.Host
	pool    *pool
	unwinds sync.WaitGroup
	workers []*worker // none if somebody else runs it
	// answered counts the replies that were whole.
	answered atomic.Uint64

	parkings sync.Pool // of *parking
	codecs   sync.Pool // of codec, for requests that have no seat yet
}

// newApp makes an application that somebody else runs.
func newApp(name string, o *Options, h *gateway.Host, network, at string) *app {
	a := &app{name: name, opts: o, host: h, pool: newPool(o.Queue)}
	where := &address{network: network, name: at}
	for range o.Connections {
		a.pool.raise(newSeat(where, o.Protocol))
	}
	return a
}

// serve asks the application for the reply to x.
func (a *app) serve(x *weighstone.Exchange, script cgi.Script) {
	in, ok := gateway.Input(x)
	if !ok {
		return
	}
	script.Length = in.Length
	s, err := a.pool.take(x.In.Gone, a.opts.Timeout)
	if err != nil {
		in.Close()
		refuse(x, err)
		return
	}
	a.serveAt(s, x, script, in)
}

// serveAt asks the application for the reply to x, by a seat that was taken for
// it.
func (a *app) serveAt(s *seat, x *weighstone.Exchange, script cgi.Script, in cgi.Spool) {
	r, err := a.ask(x, s, script, in.Length > 0)
	if err != nil {
		in.Close()
		a.pool.give(s)
		if !errors.As(err, new(restingError)) {
			a.host.Log.Error(a.host.Kind+" application can't be asked", "script", script.Name, "err", err)
		}
		refuse(x, err)
		return
	}
	var feed *gateway.Feeder
	if in.Length > 0 {
		feed = gateway.NewFeeder(&sink{run: r, link: s.link, codec: s.codec}, source(x, in), in.Length)
		go func() {
			feed.Run(r.Kill)
			in.Close()
		}()
	}
	a.host.Answer(x, script.Name, r, feed)
}

// source is where a request's body is to be read.
func source(x *weighstone.Exchange, in cgi.Spool) io.Reader {
	switch {
	case in.File != nil:
		return in.File
	case in.Mem != nil:
		return bytes.NewReader(in.Mem)
	}
	return x.In.Body
}

// safe are the methods of which doing a request twice does no harm.
const safe = weighstone.GET | weighstone.HEAD | weighstone.PUT | weighstone.DELETE

// ask sends the request, but for its body. If it comes to light that the
// connection was closed behind our back, it is sent on another one.
func (a *app) ask(x *weighstone.Exchange, s *seat, script cgi.Script, body bool) (*run, error) {
	limit := time.Now().Add(a.opts.Timeout)
	repeatable := !body && x.In.Verb&safe != 0
	if err := s.connect(limit, repeatable); err != nil {
		return nil, err
	}
	request := s.codec.begin(x, script, body)
	sent, err := s.link.send(request, limit)
	if err != nil && s.link.reused && !sent {
		s.hangUp()
		if err := s.connect(limit, repeatable); err != nil {
			return nil, err
		}
		_, err = s.link.send(request, limit)
	}
	if err != nil {
		s.hangUp()
		return nil, err
	}
	return &run{
		app: a, seat: s, request: request,
		errs:  gateway.Complaints{Host: a.host, Script: script.Name},
		limit: limit, gone: x.In.Gone,
		retry: s.link.reused && repeatable,
	}, nil
}

// unwindTime is how long an application may take to give up a request.
const unwindTime = time.Second

// unwind waits until the application has given up a request that nobody wants
// any more, and then gives the seat back. A worker that does not is ended.
func (a *app) unwind(s *seat) {
	if err := s.link.join(); err != nil {
		s.hangUp()
		a.pool.give(s)
		return
	}
	limit := time.Now().Add(unwindTime)
	s.link.SetDeadline(limit)
	s.link.Write(s.codec.appendAbort(nil))
	// What was sent of a body may end within a record, of which ABORT becomes
	// a part. The end can't be mistaken.
	s.link.closeWrite()
	err := s.readOut()
	s.hangUp()
	if s.worker != nil && errors.Is(err, errStuck) {
		a.host.Log.Warn(a.host.Kind+" worker does not give up a request, it is ended", "program", a.name, "pid", s.worker.kill())
	}
	a.pool.give(s)
}

// errStuck is an application that goes on with a request.
var errStuck = errors.New("application does not give up the request")

// readOut reads and drops the rest of a reply.
func (s *seat) readOut() error {
	for !s.codec.done() {
		out, errs, n, err := s.codec.next(s.buf[s.start:s.end])
		s.start += n
		if err != nil || s.codec.done() {
			return err
		}
		if len(out)+len(errs) > 0 {
			continue
		}
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
		n, err = s.link.Read(s.buf[s.end:])
		s.end += n
		if n == 0 {
			var late interface{ Timeout() bool }
			if errors.As(err, &late) && late.Timeout() {
				return errStuck
			}
			return err
		}
	}
	return nil
}

// close ends the workers. Requests at work fail.
func (a *app) close() {
	a.pool.close()
	a.unwinds.Wait()
	var all sync.WaitGroup
	for _, w := range a.workers {
		all.Go(w.close)
	}
	all.Wait()
}

// A sink is the application's input.
type sink struct {
	run   *run
	link  *link
	codec codec
	frame []byte
}

// Write sends a part of the body.
func (k *sink) Write(p []byte) (int, error) {
	k.frame = k.codec.appendBody(k.frame[:0], p)
	if _, err := k.link.Write(k.frame); err != nil {
		return 0, err
	}
	return len(p), nil
}

// End sends the end of the body.
func (k *sink) End() error {
	end := k.codec.appendBody(nil, nil)
	if len(end) == 0 {
		return nil
	}
	_, err := k.link.Write(end)
	return err
}

// Cut lets no more be written. The connection can't be used again.
func (k *sink) Cut() {
	k.run.mu.Lock()
	defer k.run.mu.Unlock()
	k.run.cut = true
	if !k.run.freed {
		k.link.SetWriteDeadline(past)
	}
}
