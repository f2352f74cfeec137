package specweb

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// post logs a form and answers with the page of its file.
func (h *Handler) post(x *weighstone.Exchange) {
	var buf [256]byte
	form, status := readForm(x, buf[:])
	if status != 0 {
		x.Fail(status)
		x.Out.Close = true
		return
	}
	id, f, ok := rules.ParseForm(form)
	v, cookie := rules.ParseVisitor(x.In.Fields.Get("Cookie"))
	if !ok || !cookie {
		x.Fail(http.StatusBadRequest)
		return
	}
	k, log := h.known(x, v)
	if log == nil || !h.page(x, rules.PostURL, f, -1) {
		return
	}
	r := rules.Record{Time: time.Now().UnixNano(), Process: h.pid, ID: id, File: f, Visitor: v}
	switch err := h.fault.record(log, k.facts.Generation, &r); {
	case errors.Is(err, postlog.ErrReset): // what was posted belongs to the run before
		x.Fail(http.StatusConflict)
	case err != nil:
		h.fail(x, err)
	}
}

// readForm reads the body of x, which is short if it is a form of ours, into
// buf; else it returns the status that says what is wrong.
func readForm(x *weighstone.Exchange, buf []byte) (form []byte, status int) {
	if !x.In.HasBody() || x.In.Body == nil {
		return nil, 0
	}
	n, err := io.ReadFull(x.In.Body, buf)
	switch {
	case err == nil:
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && (x.In.Length < 0 || int64(n) == x.In.Length):
		return buf[:n], 0
	}
	return nil, cgi.BodyStatus(cgi.BodyError(err))
}
