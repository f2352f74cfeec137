package weighstone

import (
	"bytes"
	"fmt"
	"net/http"
	"sort"
	"strings"
)

// A Site is the table of routes. It is built once by [NewSite], then only
// read, by any number of engines. It is the only place where a request target
// is decoded: the libraries under the other engines each normalise in a way of
// their own, which is where traversal and unequal answers come from.
type Site struct {
	exact  map[string]*Route
	prefix []*Route // longest first
	order  []*Route // as given
	limit  int64    // of a request body, in bytes
}

// DefaultMaxBody is the largest request body that a site takes, in bytes,
// unless told otherwise.
const DefaultMaxBody = 64 << 20

// NewSite makes a site from routes; maxBody of 0 means [DefaultMaxBody]. It
// fails on a pattern that is not an absolute path or occurs twice, and on a
// route without handler.
func NewSite(maxBody int64, routes ...Route) (*Site, error) {
	if maxBody == 0 {
		maxBody = DefaultMaxBody
	}
	s := &Site{exact: map[string]*Route{}, limit: maxBody}
	seen := map[string]bool{}
	for i := range routes {
		r := routes[i]
		switch {
		case !strings.HasPrefix(r.Pattern, "/"):
			return nil, fmt.Errorf("make site: route %q does not begin with a slash", r.Pattern)
		case seen[r.Pattern]:
			return nil, fmt.Errorf("make site: route %q is there twice", r.Pattern)
		case r.Handler == nil:
			return nil, fmt.Errorf("make site: route %q has no handler", r.Pattern)
		}
		seen[r.Pattern] = true
		r.allow = (r.Methods | OPTIONS).String()
		s.order = append(s.order, &r)
		if strings.HasSuffix(r.Pattern, "/") {
			s.prefix = append(s.prefix, &r)
		} else {
			s.exact[r.Pattern] = &r
		}
	}
	sort.SliceStable(s.prefix, func(i, j int) bool { return len(s.prefix[i].Pattern) > len(s.prefix[j].Pattern) })
	return s, nil
}

// Routes returns the routes in the order given, for engines that keep a
// router of their own. They must not be changed.
func (s *Site) Routes() []*Route { return s.order }

// MaxBody returns the largest request body taken, in bytes.
func (s *Site) MaxBody() int64 { return s.limit }

// Find works out x.In.Path, Query and Verb, and returns the route whose
// handler is to serve x. When the answer is settled without a handler (400,
// 404, 405, 413, 417, 501, or the reply to OPTIONS) it returns nil, with the
// answer in x.Out. The engine calls it when the head is complete. A body that
// then is not read is dropped if it is [Request.Droppable], else x.Out.Close is
// set: the connection can't be used again.
func (s *Site) Find(x *Exchange) *Route {
	in := &x.In
	in.Verb = MethodOf(in.Method)
	if !x.decodeTarget() {
		if in.Verb == OPTIONS && string(in.Target) == "*" {
			s.answerOptions(x, GET|HEAD|POST|OPTIONS)
			return nil
		}
		if in.Verb == CONNECT { // its target is an authority: no path to look up
			s.refuse(x, http.StatusNotImplemented)
			return nil
		}
		s.refuse(x, http.StatusBadRequest)
		return nil
	}
	r := s.match(in.Path)
	switch {
	case in.Verb == 0:
		s.refuse(x, http.StatusNotImplemented)
	case r == nil:
		s.refuse(x, http.StatusNotFound)
	case r.Elsewhere:
		return r
	case in.Verb&r.Methods == 0 && in.Verb == OPTIONS:
		s.answerOptions(x, r.Methods|OPTIONS)
	case in.Verb&r.Methods == 0:
		s.refuse(x, http.StatusMethodNotAllowed)
		x.AddField("Allow", r.allow)
	case in.Length != 0 && in.Length > s.bodyLimit(r):
		s.refuse(x, http.StatusRequestEntityTooLarge)
	case in.Minor > 0 && !knownExpectation(in.Fields.Get("Expect")):
		s.refuse(x, http.StatusExpectationFailed)
	default:
		return r
	}
	return nil
}

// match finds the route for a decoded path: exact, then longest prefix.
func (s *Site) match(path []byte) *Route {
	if r, ok := s.exact[string(path)]; ok {
		return r
	}
	for _, r := range s.prefix {
		if len(path) >= len(r.Pattern) && string(path[:len(r.Pattern)]) == r.Pattern {
			return r
		}
	}
	return nil
}

// bodyLimit returns how many bytes of body a request to r may announce.
func (s *Site) bodyLimit(r *Route) int64 {
	if r.Body == BodyStreamed {
		return s.limit
	}
	return min(MaxBuffered, s.limit)
}

// refuse answers with an error.
func (s *Site) refuse(x *Exchange, status int) {
	x.Fail(status)
	x.Out.Close = x.Out.Close || x.In.HasBody() && !x.In.Droppable()
}

func (s *Site) answerOptions(x *Exchange, allowed Methods) {
	x.Out.Status = http.StatusNoContent
	x.AddField("Allow", allowed.String())
	x.Out.Close = x.Out.Close || x.In.HasBody() && !x.In.Droppable()
}

func knownExpectation(value []byte) bool {
	return value == nil || bytes.EqualFold(value, []byte("100-continue"))
}
