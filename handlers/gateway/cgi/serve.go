package cgi

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/cgi/spawn"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// Serve runs the program that x asks for and answers with its output.
func (h *Handler) Serve(x *weighstone.Exchange) {
	prog, status := h.find(string(x.In.Path))
	if status != 0 {
		h.host.RefuseProgram(x, prog, status)
		return
	}
	in, ok := gateway.Input(x)
	if !ok {
		return
	}
	defer in.Close()
	if !h.acquire(x) {
		gateway.RefuseBusy(x)
		return
	}
	r, feed, err := h.start(x, prog, in)
	if err != nil {
		<-h.slots
		h.host.Log.Error("CGI program does not start", "script", prog.Name, "file", prog.File, "err", err)
		if busy(err) {
			gateway.RefuseBusy(x)
		} else if errors.Is(err, helper.ErrLost) {
			gateway.Refuse(x, http.StatusBadGateway)
		} else {
			gateway.Refuse(x, http.StatusInternalServerError)
		}
		return
	}
	h.host.Answer(x, prog.Name, r, feed)
}

// find looks up the program for a decoded path.
func (h *Handler) find(path string) (gateway.Program, int) {
	if file := h.opts.Scripts[path]; file != "" {
		return gateway.Program{File: file, Name: path}, 0
	}
	return h.dirs.Find(path, h.opts.Prefix)
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
			limit.Reset(min(gateway.Leave, h.opts.Timeout))
		}
	}
}

// start starts prog.
func (h *Handler) start(x *weighstone.Exchange, prog gateway.Program, in cgi.Spool) (*run, *gateway.Feeder, error) {
	cmd := spawn.Command{
		Path:     prog.File,
		Dir:      filepath.Dir(prog.File),
		Env:      h.variables(x, &prog, in.Length),
		Input:    in.File,
		Feed:     in.File == nil && in.Length > 0,
		Complain: h.complain,
	}
	if h.opts.Interpreter != "" {
		cmd.Path = h.opts.Interpreter
	}
	p, err := h.starter.Start(&cmd)
	if err != nil {
		return nil, nil, err
	}
	r := &run{
		h: h, p: p,
		limit:    time.Now().Add(h.opts.Timeout),
		gone:     x.In.Gone,
		detached: make(chan struct{}),
		errs:     gateway.Complaints{Host: h.host, Script: prog.Name},
	}
	if !cmd.Feed {
		return r, nil, nil
	}
	body := x.In.Body
	if in.Mem != nil {
		body = bytes.NewReader(in.Mem)
	}
	feed := gateway.NewFeeder(stdin{p.Stdin}, body, in.Length)
	go feed.Run(r.Kill)
	return r, feed, nil
}

// A stdin is the pipe to a program's standard input.
type stdin struct{ pipe *os.File }

// Write gives the program more.
func (s stdin) Write(p []byte) (int, error) { return s.pipe.Write(p) }

// End lets the program see the end.
func (s stdin) End() error { return s.pipe.Close() }

// Cut does so too: who has to notice a part is killed.
func (s stdin) Cut() { s.pipe.Close() }

// busy says whether an error of starting a program is of a machine that has no
// room just now.
func busy(err error) bool {
	for _, busy := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, busy) {
			return true
		}
	}
	return false
}
