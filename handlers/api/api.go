// Package api answers in process what the sample CGI programs answer: echo,
// hello, send and mirror. The same requests get the same bytes, so that the
// mechanism is the only thing that differs.
package api

import "github.com/weighstone/weighstone"

// Routes returns the routes of the four programs, to be put into a site. What
// they hold is shared by all exchanges and lives as long as the site.
func Routes() []weighstone.Route {
	const reads = weighstone.GET | weighstone.HEAD
	const takes = reads | weighstone.POST
	e := newEcho("/api/echo")
	return []weighstone.Route{
		{Pattern: "/api/echo", Methods: takes, Body: weighstone.BodyStreamed, Handler: e},
		{Pattern: "/api/echo/", Methods: takes, Body: weighstone.BodyStreamed, Handler: e},
		{Pattern: "/api/hello", Methods: takes, Handler: newHello()},
		{Pattern: "/api/send", Methods: takes, Handler: newSend()},
		{Pattern: "/api/mirror", Methods: takes, Body: weighstone.BodyStreamed, Handler: mirror{}},
	}
}

// maxMemory is how many bytes of a request's body are held in memory; a longer
// one goes to an unlinked file.
const maxMemory = 1 << 20
