package upstream

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
	"github.com/weighstone/weighstone/internal/sys"
)

// A parking is a request that waits in an engine's loop: for a seat, and then
// for the reply. It does what needs no waiting, on connections that are there;
// all else it leaves to a goroutine, which goes on where it stands: opening a
// connection, replies that are slow, long, broken or local redirects, and a
// connection that was closed behind our back.
type parking struct {
	app        *app
	script     cgi.Script
	repeatable bool

	codec   codec  // has made the request; the seat's when that is sent
	request []byte // the codec's

	waiter *waiter // for a seat; nil when that is there, or err why not
	seat   *seat
	err    error

	asked bool // the request was sent, and run and reply are at work
	run   run
	reply gateway.Reply
	ready bool
}

// park parks x, if a request like it can be.
func (a *app) park(x *weighstone.Exchange, script cgi.Script, wake func()) weighstone.Parked {
	if a.opts.Protocol != FastCGI { // the others open a connection for each request
		return nil
	}
	s, w, err := a.pool.enter(wake)
	if err != nil {
		return nil
	}
	p, ok := a.parkings.Get().(*parking)
	if !ok {
		p = new(parking)
	}
	p.app, p.script, p.repeatable = a, script, x.In.Verb&safe != 0
	p.seat, p.waiter = s, w
	if p.codec, ok = a.codecs.Get().(codec); !ok {
		p.codec = a.opts.Protocol.newCodec()
	}
	p.request = p.codec.begin(x, script, false)
	return p
}

// Look goes on as far as it can be done without waiting.
func (p *parking) Look() weighstone.Prospect {
	if p.asked {
		prospect := p.reply.Look()
		p.ready = prospect == weighstone.Ready
		return prospect
	}
	if p.waiter != nil {
		var there bool
		if p.seat, p.err, there = p.app.pool.look(p.waiter); !there {
			return weighstone.Waiting
		}
		p.waiter = nil
	}
	if p.err != nil || !p.ask() {
		return weighstone.Stuck
	}
	return weighstone.Waiting
}

// ask sends the request, and says whether it could. If not, none of it is known
// to the application, and the seat as good as before.
func (p *parking) ask() bool {
	s := p.seat
	if s.link == nil || !p.repeatable && !s.link.fresh() || s.link.part() != nil {
		return false
	}
	switch n, errno := sys.Send(s.link.fd, p.request); {
	case errno == unix.EAGAIN:
		return false
	case errno != 0, n < len(p.request): // an application does nothing before it has all parameters
		s.hangUp()
		return false
	}
	s.link.reused = true
	s.codec, p.codec = p.codec, s.codec
	p.app.codecs.Put(p.codec)
	p.codec = nil
	p.run.app, p.run.seat, p.run.request = p.app, s, p.request
	p.run.errs = gateway.Complaints{Host: p.app.host, Script: p.script.Name}
	p.run.limit = time.Now().Add(p.app.opts.Timeout)
	p.run.retry = p.repeatable
	p.run.parked = true
	p.reply = p.app.host.Begin(p.script.Name, &p.run, nil)
	p.asked = true
	return true
}

// FD returns the connection's descriptor once the request is sent.
func (p *parking) FD() int {
	if !p.asked {
		return -1
	}
	return p.seat.link.fd
}

// Serve answers x, waiting for what is missing.
func (p *parking) Serve(x *weighstone.Exchange) {
	switch {
	case p.ready:
		p.reply.Answer(x)
		a := p.app
		*p = parking{}
		a.parkings.Put(p)
	case p.asked:
		p.resume(x)
	default:
		p.begin(x)
	}
}

// resume waits for the reply to the request that was sent.
func (p *parking) resume(x *weighstone.Exchange) {
	r := &p.run
	r.gone, r.parked = x.In.Gone, false
	if err := p.seat.link.join(); err != nil {
		r.ended = err
	} else {
		r.PauseAt(r.pause)
	}
	p.reply.Answer(x)
}

// begin asks as if x had not been parked, once there is a seat.
func (p *parking) begin(x *weighstone.Exchange) {
	p.app.codecs.Put(p.codec)
	s, err := p.seat, p.err
	if p.waiter != nil {
		s, err = p.app.pool.wait(p.waiter, x.In.Gone, p.app.opts.Timeout)
	}
	if err != nil {
		refuse(x, err)
		return
	}
	p.app.serveAt(s, x, p.script, cgi.Spool{})
}

// Drop gives up what the client, who is lost, has asked for.
func (p *parking) Drop() {
	switch {
	case p.asked:
		p.reply.Drop()
	case p.waiter != nil:
		p.app.pool.leave(p.waiter)
	case p.seat != nil:
		p.app.pool.give(p.seat)
	}
}
