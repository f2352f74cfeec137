package netconn

import (
	"net/http"
	"strconv"
	"time"

	"github.com/weighstone/weighstone"
)

// RefuseAlike makes the connection replace what the library writes outside an
// exchange, which is its refusal of a malformed head, by the reply that all
// engines send for that status. Engines whose library lets them write refusals
// themselves do without.
func (c *Conn) RefuseAlike() { c.refuse = true }

// replace sends the common page in place of the library's refusal b.
func (c *Conn) replace(b []byte) (int, error) {
	const status = len("HTTP/1.1 ")
	code := http.StatusBadRequest
	if len(b) >= status+3 {
		if n, err := strconv.Atoi(string(b[status : status+3])); err == nil {
			code = n
		}
	}
	c.Refuse(code)
	return len(b), nil
}

// Refuse answers a head that no exchange was made of, once, counts and logs
// that, and leaves the connection to be closed.
func (c *Conn) Refuse(status int) { c.refuseHead(status, false) }

// Refused says that the connection has had its refusal, which is counted and
// logged: what the library makes of the end of its input then is not.
func (c *Conn) Refused() bool { return c.refused }

// refuseHead is Refuse, for a HEAD if bare: with the length of a body, and
// without the body.
func (c *Conn) refuseHead(status int, bare bool) {
	c.Shut() // net/http would wait for a body that it has refused
	if c.refused {
		return
	}
	c.refused = true
	var x weighstone.Exchange
	x.In.Minor, x.In.Local, x.In.Remote = 1, c.Local, c.Remote
	x.Fail(status)
	b := []byte("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n" +
		"Server: " + weighstone.Software + "\r\n" +
		"Date: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n" +
		"Connection: close\r\n" +
		"Content-Type: " + x.Out.Type + "\r\n" +
		"Content-Length: " + strconv.FormatInt(x.Out.Body.Length, 10) + "\r\n\r\n")
	var body []byte
	if !bare {
		body = x.Scratch
	}
	_, _ = c.write(append(b, body...))
	c.Answered(&x, status, int64(len(body)))
}

// Answered counts and logs a finished exchange of which sent bytes of body were
// sent.
func (c *Conn) Answered(x *weighstone.Exchange, status int, sent int64) {
	c.answered++
	c.slot.Answered(status, 0)
	if c.hub.Access != nil {
		c.hub.Access.Exchange(x, status, sent)
	}
}
