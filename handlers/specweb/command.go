package specweb

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/weighstone/weighstone"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// reset begins anew: users and advertisements of a seed, of which two have
// expired already, and an empty log.
func (h *Handler) reset(x *weighstone.Exchange) {
	facts, ok := parseReset(x.In.Query)
	if !ok {
		x.Fail(http.StatusBadRequest)
		return
	}
	log := h.opened(x)
	if log == nil {
		return
	}
	facts.At = time.Now().Unix()
	if err := log.Reset(facts); err != nil {
		h.fail(x, err)
		return
	}
	x.Scratch = append(x.Scratch[:0], rules.Style+" reset "...)
	x.Scratch = strconv.AppendInt(x.Scratch, facts.At, 10)
	x.Scratch = append(x.Scratch, '\n')
	x.SendScratch("text/plain")
}

// parseReset reads seed=N&users=N.
func parseReset(query []byte) (f postlog.Facts, ok bool) {
	seed, rest, found := bytes.Cut(query, []byte("&"))
	s, isSeed := bytes.CutPrefix(seed, []byte("seed="))
	u, isUsers := bytes.CutPrefix(rest, []byte("users="))
	if !found || !isSeed || !isUsers {
		return f, false
	}
	var err error
	if f.Seed, err = strconv.ParseUint(string(s), 10, 64); err != nil {
		return f, false
	}
	f.Users, err = strconv.Atoi(string(u))
	return f, err == nil && f.Users >= 1 && f.Users <= rules.MaxUsers
}

// fetch answers with the records that there are now.
func (h *Handler) fetch(x *weighstone.Exchange) {
	log := h.opened(x)
	if log == nil {
		return
	}
	file, offset, length, err := log.Records()
	if err != nil {
		h.fail(x, err)
		return
	}
	x.Out.Type = "text/plain"
	if length > 0 {
		x.SendShared(file, offset, length)
	}
}
