package site

import (
	"fmt"
	"strings"

	"github.com/weighstone/weighstone"
)

// HelperName is the program that starts the CGI programs below [HelperPrefix].
const HelperName = "weighstone-helper"

// A Lack is the want of something that routes need. They answer 503 and why.
type Lack struct {
	Routes []string
	Why    string // a sentence without its full stop
}

// Lacks returns what is wanting here, and for what.
func (c *Config) Lacks() []Lack {
	var all []Lack
	note := func(missing bool, need string, routes ...string) {
		if missing {
			verb := "need"
			if len(routes) == 1 {
				verb = "needs"
			}
			all = append(all, Lack{routes, fmt.Sprintf("%s %s %s", strings.Join(routes, " and "), verb, need)})
		}
	}
	const which = "which %s not here: make build makes %s"
	programs := func(dir string) string {
		return "the programs of bin/" + dir + ", " + fmt.Sprintf(which, "are", "them")
	}
	cgi := len(present(c.CGIBin, c.Programs)) > 0
	note(!cgi, programs("cgi"), "/cgi-bin/", HelperPrefix)
	note(cgi && c.Helper == "", HelperName+", "+fmt.Sprintf(which, "is", "it"), HelperPrefix)
	note(c.Apps.Programs == "", programs("fcgi"), "/fcgi-bin/", "/scgi-bin/")
	for _, i := range c.Apps.Interpreters.List() {
		note(!i.wanted, programs(i.Dir), i.Routes...)
		note(i.wanted && i.path == "", i.Program+", which is not here: the Debian package "+i.Package+" brings it", i.Routes...)
	}
	return all
}

// unavailable answers for a Lack.
type unavailable struct{ Lack }

// Routes returns the routes that lack something.
func (u unavailable) Routes() []weighstone.Route {
	var all []weighstone.Route
	for _, p := range u.Lack.Routes {
		all = append(all, weighstone.Route{Pattern: p, Methods: weighstone.GET | weighstone.HEAD | weighstone.POST, Handler: u})
	}
	return all
}

// Serve answers 503 and why.
func (u unavailable) Serve(x *weighstone.Exchange) {
	x.Out.Status = 503
	x.Scratch = append(append(x.Scratch[:0], u.Why...), ".\n"...)
	x.SendScratch("text/plain; charset=utf-8")
}

// Close does nothing.
func (u unavailable) Close() error { return nil }
