package cgi

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/spawn"
)

// maxMemory is how many bytes of a chunked body, and of a reply's body, are
// held in memory.
const maxMemory = 64 << 10

// Serve runs the program that x asks for and answers with its output.
func (h *Handler) Serve(x *weighstone.Exchange) {
	prog, status := h.find(string(x.In.Path))
	if status != 0 {
		refuse(x, status)
		return
	}
	in, err := input(x)
	if err != nil {
		x.Fail(cgi.BodyStatus(err))
		x.Out.Close = true
		return
	}
	defer in.Close()
	if !h.acquire(x) {
		refuse(x, http.StatusServiceUnavailable)
		x.AddField("Retry-After", "1")
		return
	}
	r, err := h.start(x, prog, in)
	if err != nil {
		<-h.slots
		h.opts.Log.Error("CGI program does not start", "script", prog.name, "err", err)
		refuse(x, startStatus(err))
		if x.Out.Status == http.StatusServiceUnavailable {
			x.AddField("Retry-After", "1")
		}
		return
	}
	r.answer(x)
}

// refuse answers with an error before the body has been read.
func refuse(x *weighstone.Exchange, status int) {
	x.Fail(status)
	x.Out.Close = x.Out.Close || x.In.HasBody() && !x.In.Droppable()
}

// input settles what the program reads. A body that does not announce its
// length is read to its end first, since CONTENT_LENGTH must tell it (RFC
// 3875 section 4.2).
func input(x *weighstone.Exchange) (cgi.Spool, error) {
	if x.In.Length >= 0 || x.In.Body == nil {
		return cgi.Spool{Length: max(x.In.Length, 0)}, nil
	}
	return cgi.ReadBody(nil, x.In.Body, maxMemory)
}

// acquire waits for the right to run a program, unless it takes too long, or
// some time after the client has left.
func (h *Handler) acquire(x *weighstone.Exchange) bool {
	select {
	case h.slots <- struct{}{}:
		return true
	default:
	}
	limit := time.NewTimer(h.opts.Timeout)
	defer limit.Stop()
	gone := x.In.Gone
	for {
		select {
		case h.slots <- struct{}{}:
			return true
		case <-limit.C:
			return false
		case <-gone:
			gone = nil
			limit.Reset(min(leave, h.opts.Timeout))
		}
	}
}

// start starts prog.
func (h *Handler) start(x *weighstone.Exchange, prog program, in cgi.Spool) (*run, error) {
	cmd := spawn.Command{
		Path:     prog.file,
		Dir:      filepath.Dir(prog.file),
		Env:      h.variables(x, &prog, in.Length),
		Input:    in.File,
		Feed:     in.File == nil && in.Length > 0,
		Complain: h.complain,
	}
	p, err := h.spawner.Start(&cmd)
	if err != nil {
		return nil, err
	}
	r := &run{
		h: h, p: p, script: prog.name,
		buf:      h.buffers.Get().(*[]byte),
		limit:    time.Now().Add(h.opts.Timeout),
		gone:     x.In.Gone,
		detached: make(chan struct{}),
	}
	if cmd.Feed {
		r.feed = newFeeder(p.Stdin, x.In.Body, in)
		go r.feed.run(r)
	}
	return r, nil
}

// startStatus is the status for an error of starting a program.
func startStatus(err error) int {
	for _, busy := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, busy) {
			return http.StatusServiceUnavailable
		}
	}
	if errors.Is(err, syscall.EACCES) {
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// answer makes x's reply of the output of r.
func (r *run) answer(x *weighstone.Exchange) {
	hd, n, err := r.collect()
	switch {
	case err != nil && err != io.EOF:
		r.abandon(x, err)
	case hd.Local():
		r.finish(err == io.EOF)
		x.Out.Close = x.Out.Close || !r.bodyRead()
		r.h.redirect(x, hd.Location)
	case err == io.EOF:
		r.replyWhole(x, &hd, (*r.buf)[n:])
	default:
		r.replyPart(x, &hd, (*r.buf)[n:])
	}
}
