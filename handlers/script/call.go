package script

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// maxBody is how many bytes of a request's body are held in memory; more goes
// to an unlinked file.
const maxBody = 1 << 20

// A Call is one run of a program for an exchange. Who began it closes it.
type Call struct {
	Script   cgi.Script
	Body     io.Reader // has the whole body
	Deadline time.Time

	spool cgi.Spool
}

// Close gives back what held the body.
func (c *Call) Close() error { return c.spool.Close() }

// Begin finds the program that x's path names below prefix, and then reads the
// body, so that nothing that can run programs waits for a client. The call may
// take timeout from here on. If there is no such program, if it can't run,
// which is logged, or if the body can't be read, x is answered and ok is false.
func (l *Library[T]) Begin(x *weighstone.Exchange, prefix string, timeout time.Duration, log *slog.Logger) (program T, c Call, ok bool) {
	name, info := Split(x.In.Path, prefix)
	program, err := l.Find(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		gateway.Refuse(x, http.StatusNotFound)
		return program, c, false
	case err != nil:
		log.Error(l.kind+" can't run", "script", name, "err", err)
		gateway.Refuse(x, http.StatusInternalServerError)
		return program, c, false
	}
	body, err := cgi.SpoolBody(x, maxBody)
	if err != nil {
		x.Fail(cgi.BodyStatus(err))
		x.Out.Close = true
		return program, c, false
	}
	return program, Call{
		Script:   cgi.Script{Name: prefix + name, Info: info, Length: body.Length},
		Body:     body.Reader(),
		spool:    body,
		Deadline: time.Now().Add(timeout),
	}, true
}
