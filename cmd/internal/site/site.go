// Package site assembles what is served, from the choices of the command line:
// the same in the process that serves alone, and in each worker of a process
// architecture.
package site

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/handlers/api"
	"github.com/weighstone/weighstone/handlers/gateway/cgi"
	"github.com/weighstone/weighstone/handlers/gateway/upstream"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/handlers/status"
)

// A Config is what of the command line the content depends on. Workers get it
// as JSON.
type Config struct {
	Fixtures    string        // directory of the content
	Root        string        // one whose files come first, or empty
	CGIBin      string        // one whose programs come first, or empty
	Programs    string        // directory of the built-in programs, or empty
	Helper      string        // address of what starts programs at HelperPrefix, or empty
	Apps        Apps          // through FastCGI and SCGI
	CGITimeout  time.Duration // life of a program, and of a request to an application
	Memory      int64         // the largest file kept in memory, as static.Options has it
	MemoryTotal int64         // what files in memory may take together, likewise
	Descriptors int           // files kept open
	Override    string        // name of the files that are looked for along each path, or empty
	MaxBody     int64         // of a request, in bytes
	Ballast     int64         // memory that each process holds for nothing, in bytes

	Inside  Inside // the process
	Specweb Specweb

	// PostLog is the descriptor of the log of POSTs (postlog.Create). A worker
	// inherits its own; it stays the caller's. Nil for none.
	PostLog *os.File `json:"-"`

	// Crashed is called when a program that stays for FastCGI or SCGI has ended
	// badly; nil tells nobody. A worker of processes has its own.
	Crashed func() `json:"-"`
}

// Inside is what the mechanisms within the process depend on.
type Inside struct {
	DB      string        // the database of documents; empty for the fixtures' own
	Lua     string        // directory of the user's scripts, or empty
	Wasm    string        // directory of the user's modules, or empty
	Timeout time.Duration // of a script or module; 0 for what its mechanism takes
	Memory  int64         // of one, in bytes; 0 likewise
}

// A Part answers some routes beside those that every site has. Its owner is
// the site.
type Part interface {
	Routes() []weighstone.Route
	// Close gives back what the part holds; no exchange is served any more.
	Close() error
}

// redirecting is a Part whose programs may answer by another path of the site.
type redirecting interface {
	UseSite(site func() *weighstone.Site)
}

// Content is a site with the handlers it is made of, which hold directories
// and programs. Its owner ends it: [Content.EndPrograms], and [Content.Close]
// when no exchange is served any more.
type Content struct {
	Site     *weighstone.Site
	files    *static.Handler
	gateways []Part // to programs, which end with them
	parts    []Part
	ballast  ballast
	posts    *posts // nil for none
}

// New makes the handlers and the site of them. Files and programs of the user
// come before the built-in ones; the other routes are exact or longer
// prefixes, so nothing can take their place. report is what /server-status
// tells; parts are those of the mechanisms that this program has linked.
func New(c Config, report func() status.Report, log *slog.Logger, parts ...Part) (*Content, error) {
	roots := present(c.Root, c.Fixtures)
	files, err := static.New(static.Options{Roots: roots, MemoryLimit: c.Memory, MemoryTotal: c.MemoryTotal, Descriptors: c.Descriptors, Override: c.Override, Log: log})
	if err != nil {
		return nil, err
	}
	content := &Content{files: files, parts: parts}
	for _, p := range parts {
		if r, ok := p.(redirecting); ok {
			r.UseSite(func() *weighstone.Site { return content.Site })
		}
	}
	if content.ballast, err = newBallast(c.Ballast); err != nil {
		files.Close()
		return nil, err
	}
	if err = content.openGateways(c, roots[0], log); err == nil {
		err = content.openSpecweb(c, log)
	}
	if err == nil {
		err = content.assemble(c.MaxBody, report)
	}
	if err != nil {
		content.closeGateways()
		files.Close()
		content.ballast.Close()
		content.closePosts()
		return nil, err
	}
	return content, nil
}

// openGateways makes the gateways to programs and applications.
func (c *Content) openGateways(config Config, root string, log *slog.Logger) error {
	site := func() *weighstone.Site { return c.Site }
	for _, lack := range config.Lacks() {
		c.gateways = append(c.gateways, unavailable{lack})
	}
	if err := c.openCGI(config, root, log, site); err != nil {
		return err
	}
	return c.openApps(config.Apps, upstream.Options{Root: root, Timeout: config.CGITimeout, Log: log, Site: site, Crashed: config.Crashed})
}

// HelperPrefix is below which the CGI programs are started by the helper.
const HelperPrefix = "/cgi-helper/"

// openCGI makes the gateways to CGI programs, of which there are two: one has
// them started by the helper.
func (c *Content) openCGI(config Config, root string, log *slog.Logger, site func() *weighstone.Site) error {
	dirs := present(config.CGIBin, config.Programs)
	if len(dirs) == 0 {
		return nil // a Lack answers
	}
	o := cgi.Options{Dirs: dirs, Root: root, Timeout: config.CGITimeout, Log: log, Site: site}
	if err := c.add(cgi.New(o)); err != nil || config.Helper == "" {
		return err
	}
	o.Prefix, o.Starter = HelperPrefix, helper.NewClient(config.Helper)
	return c.add(cgi.New(o))
}

// assemble makes the site of all there is.
func (c *Content) assemble(maxBody int64, report func() status.Report) (err error) {
	const reads = weighstone.GET | weighstone.HEAD
	routes := append(api.Routes(),
		weighstone.Route{Pattern: "/server-status", Methods: reads, Handler: status.New(report)},
		weighstone.Route{Pattern: "/", Methods: reads, Handler: c.files},
	)
	for _, g := range c.gateways {
		routes = append(routes, g.Routes()...)
	}
	for _, p := range c.parts {
		routes = append(routes, p.Routes()...)
	}
	c.Site, err = weighstone.NewSite(maxBody, routes...)
	return err
}

// EndPrograms ends the programs that still run, which would outlive us.
func (c *Content) EndPrograms() error { return c.closeGateways() }

// Close gives back what the handlers hold.
func (c *Content) Close() error {
	errs := []error{c.files.Close(), c.ballast.Close(), c.closePosts()}
	for _, p := range c.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// present returns the names that are not empty.
func present(names ...string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
