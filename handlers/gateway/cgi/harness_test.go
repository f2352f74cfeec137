package cgi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/cgi/keeper"
	"github.com/weighstone/weighstone/internal/testproc"
)

// lines are the header lines of a test request, name and value in turn.
type lines []string

func (l lines) Get(name string) []byte {
	for i := 0; i < len(l); i += 2 {
		if textproto.CanonicalMIMEHeaderKey(l[i]) == name {
			return []byte(l[i+1])
		}
	}
	return nil
}

func (l lines) Each(sink weighstone.FieldSink) {
	for i := 0; i < len(l); i += 2 {
		sink.Field([]byte(l[i]), []byte(l[i+1]))
	}
}

// A host is a Handler over a directory of scripts, with the site it is in.
type host struct {
	*Handler
	t    *testing.T
	dir  string
	log  *testproc.Journal
	site *weighstone.Site

	keeper *keeper.Keeper // nil where programs are started by this process
}

// newHost makes a host whose goroutines, descriptors and children must all be
// gone at the test's end.
func newHost(t *testing.T, o Options) *host {
	t.Helper()
	before := descriptors(t)
	old := goleak.IgnoreCurrent()
	h := &host{t: t, dir: t.TempDir(), log: new(testproc.Journal)}
	if o.Dirs == nil {
		o.Dirs = []string{h.dir}
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	o.Log = slog.New(slog.NewTextHandler(h.log, nil))
	if throughHelper(t) {
		h.keeper = newKeeper(t, o.Log)
		o.Starter = helper.NewClient(h.keeper.Address())
	}
	o.Site = func() *weighstone.Site { return h.site }
	var err error
	if h.Handler, err = New(o); err != nil {
		t.Fatal(err)
	}
	page := weighstone.NewPage("text/plain", time.Time{}, []byte("a page\n"))
	h.site, err = weighstone.NewSite(0, append(h.Routes(), weighstone.Route{
		Pattern: "/page", Methods: weighstone.GET | weighstone.HEAD,
		Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) { x.SendPage(page) }),
	})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.quiet()
		h.Close()
		if h.keeper != nil {
			h.keeper.Close()
		}
		goleak.VerifyNone(t, old)
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors open, %d before", after, before)
		}
		// Where a test has two hosts, the helper of the other is still there.
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if others := h.keeper != nil && err == nil && pid == 0; err != unix.ECHILD && !others {
			t.Errorf("a child is left: wait4 says %d, %v", pid, err)
		}
	})
	return h
}

// quiet waits until no program runs.
func (h *host) quiet() {
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	for range cap(h.slots) {
		<-h.slots
	}
}

// descriptors counts those open, but for the poller's own.
func descriptors(t *testing.T) int {
	t.Helper()
	r, w, err := os.Pipe() // brings the poller to life
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// script writes a shell script.
func (h *host) script(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// A call is a request.
type call struct {
	method, target string // empty: GET
	fields         lines
	body           io.Reader
	length         int64
	minor          uint8
	gone           chan struct{}
}

// An answer is a reply that was read as an engine would.
type answer struct {
	status  int
	kind    string
	fields  []weighstone.Field
	body    string
	length  int64 // -1: framed by chunks or closing
	broken  error
	close   bool
	stream  bool
	elapsed time.Duration
}

func (a answer) field(name string) string {
	for _, f := range a.fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// begin has the site answer, as far as the head.
func (h *host) begin(c call) *weighstone.Exchange {
	h.t.Helper()
	if c.method == "" {
		c.method = "GET"
	}
	x := &weighstone.Exchange{In: weighstone.Request{
		Method: []byte(c.method), Target: []byte(c.target), Host: []byte("www.example:8080"), Minor: 1 - c.minor,
		Fields: c.fields, Body: c.body, Length: c.length,
		Local: netip.MustParseAddrPort("127.0.0.1:80"), Remote: netip.MustParseAddrPort("127.0.0.1:4000"),
	}}
	if c.gone != nil {
		x.In.Gone = c.gone
	}
	if route := h.site.Find(x); route != nil {
		route.Handler.Serve(x)
	}
	return x
}

// do reads the whole answer and closes it.
func (h *host) do(c call) answer {
	h.t.Helper()
	start := time.Now()
	x := h.begin(c)
	a := answer{status: x.Out.Code(), kind: x.Out.Type, fields: x.Out.Extra, length: x.Out.Body.Length, close: x.Out.Close}
	switch x.Out.Body.Kind {
	case weighstone.BodyScratch:
		a.body = string(x.Scratch)
	case weighstone.BodyPage:
		a.body, a.kind = string(x.Out.Body.Page.Bytes), x.Out.Body.Page.Type
	case weighstone.BodyFile:
		b, err := io.ReadAll(io.NewSectionReader(x.Out.Body.File, x.Out.Body.Offset, x.Out.Body.Length))
		a.body, a.broken = string(b), err
	case weighstone.BodyStream:
		a.stream = true
		var b []byte
		b, a.broken = readStream(x)
		a.body = string(b)
	}
	a.elapsed = time.Since(start)
	x.Out.Body.Close()
	return a
}

// readStream reads as much as an engine would.
func readStream(x *weighstone.Exchange) ([]byte, error) {
	var r io.Reader = x.Out.Body.Stream
	if x.In.Verb == weighstone.HEAD {
		return nil, nil
	}
	if n := x.Out.Body.Length; n >= 0 {
		b, err := io.ReadAll(io.LimitReader(r, n))
		if err == nil && int64(len(b)) < n {
			err = io.ErrUnexpectedEOF
		}
		return b, err
	}
	return io.ReadAll(r)
}

// get runs the script of that name.
func (h *host) get(name string) answer {
	h.t.Helper()
	return h.do(call{target: "/cgi-bin/" + name})
}

// post hands it a body.
func (h *host) post(name, body string) answer {
	h.t.Helper()
	return h.do(call{method: "POST", target: "/cgi-bin/" + name, body: strings.NewReader(body), length: int64(len(body))})
}

// alive says whether a process runs: a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(b, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z'
}

// soon waits for a condition.
func soon(t *testing.T, about string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", about)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func statusText(status int) string { return fmt.Sprintf("%d %s\n", status, http.StatusText(status)) }
