// Package site assembles what is served, from the choices of the command line:
// the same in the process that serves alone, and in each worker of a process
// architecture.
package site

import (
	"log/slog"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/api"
	"github.com/weighstone/weighstone/handlers/gateway/cgi"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/handlers/status"
)

// A Config is what of the command line the content depends on. Workers get it
// as JSON.
type Config struct {
	Fixtures   string        // directory of the content
	Root       string        // one whose files come first, or empty
	CGIBin     string        // one whose programs come first, or empty
	Programs   string        // directory of the built-in programs, or empty
	CGITimeout time.Duration // life of a program
	Memory     int64         // the largest file kept in memory, as static.Options has it
	MaxBody    int64         // of a request, in bytes
}

// Content is a site with the handlers it is made of, which hold directories
// and programs. Its owner ends it: [Content.EndPrograms], and [Content.Close]
// when no exchange is served any more.
type Content struct {
	Site     *weighstone.Site
	files    *static.Handler
	programs *cgi.Handler
}

// New makes the handlers and the site of them. Files and programs of the user
// come before the built-in ones; the other routes are exact or longer
// prefixes, so nothing can take their place. report is what /server-status
// tells.
func New(c Config, report func() status.Report, log *slog.Logger) (*Content, error) {
	roots := present(c.Root, c.Fixtures)
	files, err := static.New(static.Options{Roots: roots, MemoryLimit: c.Memory, Log: log})
	if err != nil {
		return nil, err
	}
	content := &Content{files: files}
	content.programs, err = cgi.New(cgi.Options{
		Dirs: present(c.CGIBin, c.Programs), Root: roots[0], Timeout: c.CGITimeout, Log: log,
		Site: func() *weighstone.Site { return content.Site },
	})
	if err != nil {
		files.Close()
		return nil, err
	}
	const reads = weighstone.GET | weighstone.HEAD
	content.Site, err = weighstone.NewSite(c.MaxBody, append(api.Routes(),
		weighstone.Route{Pattern: "/server-status", Methods: reads, Handler: status.New(report)},
		content.programs.Route(),
		weighstone.Route{Pattern: "/", Methods: reads, Handler: files},
	)...)
	if err != nil {
		content.programs.Close()
		files.Close()
		return nil, err
	}
	return content, nil
}

// EndPrograms kills what CGI programs still run, which would outlive us.
func (c *Content) EndPrograms() error { return c.programs.Close() }

// Close gives back the directories of the files.
func (c *Content) Close() error { return c.files.Close() }

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
