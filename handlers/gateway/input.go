package gateway

import (
	"net/http"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// Refuse answers with an error before the body has been read.
func Refuse(x *weighstone.Exchange, status int) {
	x.Fail(status)
	x.Out.Close = x.Out.Close || x.In.HasBody() && !x.In.Droppable()
}

// RefuseProgram answers for a program that [Dirs.Find] does not let run. Who
// keeps the server learns of the file that is there and can't.
func (h *Host) RefuseProgram(x *weighstone.Exchange, p Program, status int) {
	if status == http.StatusInternalServerError {
		h.Log.Error(h.Kind+" program is not an executable file", "script", p.Name, "file", p.File)
	}
	Refuse(x, status)
}

// RefuseBusy answers that there is no room just now.
func RefuseBusy(x *weighstone.Exchange) {
	Refuse(x, http.StatusServiceUnavailable)
	x.AddField("Retry-After", "1")
}

// Input settles what a program reads. A body that does not announce its
// length is read to its end first, since CONTENT_LENGTH must tell it (RFC
// 3875 section 4.2). If that fails x is answered, and ok false. The caller
// closes the spool.
func Input(x *weighstone.Exchange) (in cgi.Spool, ok bool) {
	if x.In.Length >= 0 || x.In.Body == nil {
		return cgi.Spool{Length: max(x.In.Length, 0)}, true
	}
	in, err := cgi.ReadBody(nil, x.In.Body, MaxMemory)
	if err != nil {
		x.Fail(cgi.BodyStatus(err))
		x.Out.Close = true
		return in, false
	}
	return in, true
}
